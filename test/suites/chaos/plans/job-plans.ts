import type { ScriptedReply, ScriptedToolCall } from '../../../support/servers/scripted-model-server.ts';
import { createPlannedTree } from './planned-tree.ts';
import type { Random } from './random.ts';
import { planSpecial, type SpecialKind } from './special-plans.ts';

/** The model's answer in one step. */
export interface PlannedStep {
  /** None: the answer is text, which ends the work. */
  calls: ScriptedToolCall[];
  thinkMs: number;
  /** The status of the model's response to the first call of the step; `isFinal`: to every call. */
  trouble: { status: number; isFinal: boolean } | null;
  /** Texts that the result of a call must contain. */
  reads: { id: string; holds: string }[];
}

export interface JobPlan {
  index: number;
  /** Part of the prompt, by which the model distinguishes the jobs. */
  marker: string;
  prompt: string;
  /** The index of the repository. */
  repository: number;
  ref: string | null;
  steps: PlannedStep[];
  /** Replaces the steps: the model's answer to any request. */
  reply?(step: number): ScriptedReply;
  /** The number of steps in each turn; a further turn starts with a message after the end of the previous one. */
  turns: number[];
  /** What each turn ends waiting for, instead of publishing; by default nothing. */
  waits?: readonly ('approval' | 'answer' | null)[];
  /** `files`: the final content of the branch. */
  ending:
    | { kind: 'published'; files: Map<string, string> }
    | { kind: 'unchanged' }
    /** `kept`: the work before the failure, published as a draft, or null. */
    | { kind: 'failed'; category: string; kept: Map<string, string> | null };
}

/** The final content of a job's branch, or null without a branch. */
export function publishedBy({ ending }: JobPlan): Map<string, string> | null {
  if (ending.kind === 'published') return ending.files;
  return ending.kind === 'failed' ? ending.kept : null;
}

/** How many turns publish. */
export function commitsOf({ turns, waits = [] }: JobPlan): number {
  return turns.length - waits.filter((wait) => wait !== null).length;
}

export interface PlanOptions {
  count: number;
  /** Content of each repository by path. */
  repositories: ReadonlyMap<string, string>[];
  random: Random;
  /** Whether some jobs have a setup, call an MCP server or wait for a person. The scene must have what they need. */
  hasSpecial?: boolean;
}

type Kind = 'edits' | 'reads' | 'refused' | 'no-ref';

/** Of ten jobs, these do more than change files. */
const specialKinds = new Map<number, SpecialKind>([
  [1, 'setup'],
  [2, 'plan'],
  [4, 'tools'],
  [7, 'question'],
  [9, 'setup'],
]);

/** Of ten jobs, seven change files, one only reads, one is refused by its model, and one names a missing branch. */
export function planJobs({ count, repositories, random, hasSpecial = false }: PlanOptions): JobPlan[] {
  return Array.from({ length: count }, (_, index) => {
    const own = random.fork(index);
    const repository = own.between(0, repositories.length - 1);
    const special = hasSpecial ? specialKinds.get(index % 10) : undefined;
    if (special !== undefined)
      return planSpecial({ index, kind: special, repository, files: repositories[repository]!, random: own });
    return planJob({ index, kind: kindOf(index), repository, files: repositories[repository]!, random: own });
  });
}

/** How many answers the model gives if nothing is requested twice. */
export function plannedCalls(plans: JobPlan[]): number {
  return plans.reduce((sum, { steps }) => sum + steps.length, 0);
}

function kindOf(index: number): Kind {
  if (index % 10 === 3) return 'reads';
  if (index % 10 === 6) return 'refused';
  return index % 10 === 8 ? 'no-ref' : 'edits';
}

interface JobSketch {
  index: number;
  kind: Kind;
  repository: number;
  files: ReadonlyMap<string, string>;
  random: Random;
}

function planJob({ index, kind, repository, files, random }: JobSketch): JobPlan {
  const marker = `[chaos-${index}]`;
  const tree = createPlannedTree({ files, name: `job-${index}`, random });
  const count = kind === 'no-ref' ? 0 : random.between(3, 7);
  const steps: PlannedStep[] = [];
  let before = tree.files();
  for (let step = 1; step <= count; step += 1) {
    before = tree.files();
    const { calls, reads } = kind === 'reads' ? tree.look(step) : tree.change(step);
    const isRefused = kind === 'refused' && step === count;
    const isUnlucky = random.next() < 0.08;
    const trouble = isRefused ? { status: 401, isFinal: true } : { status: 503, isFinal: false };
    steps.push({ calls, reads, thinkMs: random.between(50, 900), trouble: isRefused || isUnlucky ? trouble : null });
  }
  if (kind === 'edits' || kind === 'reads') steps.push(lastStep(index, kind, random));
  return {
    index,
    marker,
    prompt: `${marker} Carry out the plan.`,
    repository,
    ref: kind === 'no-ref' ? 'no-such-branch' : null,
    steps,
    turns: [steps.length],
    ending: endingOf(kind, kind === 'refused' ? before : tree.files()),
  };
}

/** A job that changes files in two turns. Plans of the same random source differ in nothing but their index. */
export function planTwoTurns({ index, repository, files, random }: Omit<JobSketch, 'kind'>): JobPlan {
  const tree = createPlannedTree({ files, name: 'job', random });
  const turnOf = (first: number, count: number): PlannedStep[] => [
    ...Array.from({ length: count }, (_, step) => ({ ...tree.change(first + step), thinkMs: 20, trouble: null })),
    { ...lastStep(first, 'edits', random), thinkMs: 20 },
  ];
  const steps = [...turnOf(1, 3), ...turnOf(11, 2)];
  const marker = `[chaos-${index}]`;
  const prompt = `${marker} Carry out the plan.`;
  const ending = endingOf('edits', tree.files());
  return { index, marker, prompt, repository, ref: null, steps, turns: [4, 3], ending };
}

function lastStep(index: number, kind: Kind, random: Random): PlannedStep {
  const input = { title: `Plan ${index}`, summary: 'It is carried out.' };
  const calls = kind === 'reads' ? [] : [{ name: 'finish', id: `finish-${index}`, input }];
  return { calls, reads: [], thinkMs: random.between(50, 300), trouble: null };
}

function endingOf(kind: Kind, files: Map<string, string>): JobPlan['ending'] {
  if (kind === 'edits') return { kind: 'published', files };
  if (kind === 'reads') return { kind: 'unchanged' };
  if (kind === 'refused') return { kind: 'failed', category: 'model_refused', kept: files };
  return { kind: 'failed', category: 'ref_not_found', kept: null };
}
