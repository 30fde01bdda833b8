import { environmentPath } from '../../../../lib/environments/environment.ts';
import type { ScriptedToolCall } from '../../../support/servers/scripted-model-server.ts';
import type { JobPlan, PlannedStep } from './job-plans.ts';
import { createPlannedTree, type PlannedBatch } from './planned-tree.ts';
import type { Random } from './random.ts';

/** What a job does besides editing: it has a setup, calls an MCP server, or waits for a person. */
export type SpecialKind = 'setup' | 'tools' | 'plan' | 'question';

export interface SpecialSketch {
  index: number;
  kind: SpecialKind;
  /** The index of the repository. */
  repository: number;
  files: ReadonlyMap<string, string>;
  random: Random;
  /** Whether it calls the MCP server while it works; by default, only a job of that kind does. */
  hasTools?: boolean;
}

/** A branch whose description has a setup of its own. */
export interface PlannedEnvironment {
  branch: string;
  content: string;
  /** What its setup leaves in HOME. */
  installed: string;
}

/** Fewer than the layers that PostgreSQL keeps of a project. */
export const plannedEnvironments: readonly PlannedEnvironment[] = [0, 1, 2].map((index) => {
  const installed = `installed-${index}`;
  const setup = `sleep 1\necho ${installed} > ~/installed`;
  return { branch: `environment-${index}`, content: JSON.stringify({ setup }), installed };
});

/** The MCP server of the projects. Calls of `look` may be repeated, those of `send` may not. */
export const plannedServer = { name: 'notes', look: 'look', send: 'send', seen: 'seen by the server' };

interface Making {
  index: number;
  /** Precedes the ids of its calls; plans of the same tree share it. */
  name: string;
  files: ReadonlyMap<string, string>;
  random: Random;
  thinkMs(): number;
  environment: PlannedEnvironment | null;
  hasTools: boolean;
}

/** Makes the steps of a job in order. */
function createSteps({ index, name, files, random, thinkMs, environment, hasTools }: Making) {
  const described: ReadonlyMap<string, string> =
    environment === null ? files : new Map([...files, [environmentPath, environment.content]]);
  const tree = createPlannedTree({ files: described, name, random });
  let count = 0;

  function extrasOf(step: number): PlannedBatch {
    const batch: PlannedBatch = { calls: [], reads: [] };
    const add = (call: ScriptedToolCall & { id: string }, holds?: string) => {
      batch.calls.push(call);
      if (holds !== undefined) batch.reads.push({ id: call.id, holds });
    };
    const id = `${name}-step-${step}`;
    if (environment !== null)
      add({ name: 'run', id: `${id}-run`, input: { command: 'cat ~/installed' } }, environment.installed);
    if (!hasTools) return batch;
    const { name: server, look, send, seen } = plannedServer;
    add({ name: `${server}__${look}`, id: `${id}-look`, input: {} }, seen);
    add({ name: `${server}__${send}`, id: `${id}-send`, input: { job: index, step } });
    return batch;
  }

  const planned = (batch: PlannedBatch): PlannedStep => ({ ...batch, thinkMs: thinkMs(), trouble: null });
  const single = (call: ScriptedToolCall) => planned({ calls: [call], reads: [] });
  return {
    files: tree.files,
    look: () => planned(tree.look((count += 1))),
    work() {
      const step = (count += 1);
      const [extras, change] = [extrasOf(step), tree.change(step)];
      return planned({ calls: [...extras.calls, ...change.calls], reads: [...extras.reads, ...change.reads] });
    },
    ask() {
      const input = { question: 'Shall the work go on?', choices: ['yes', 'no'] };
      return single({ name: 'ask', id: `${name}-ask-${(count += 1)}`, input });
    },
    finish() {
      const input = { title: `Plan ${index}`, summary: 'It is carried out.' };
      return single({ name: 'finish', id: `${name}-finish-${(count += 1)}`, input });
    },
  };
}

interface Assembly {
  index: number;
  repository: number;
  environment: PlannedEnvironment | null;
  turns: { steps: PlannedStep[]; wait?: 'approval' | 'answer' }[];
  files: Map<string, string>;
}

function assemble({ index, repository, environment, turns, files }: Assembly): JobPlan {
  const marker = `[chaos-${index}]`;
  return {
    index,
    marker,
    prompt: `${marker} Carry out the plan.`,
    repository,
    ref: environment?.branch ?? null,
    steps: turns.flatMap(({ steps }) => steps),
    turns: turns.map(({ steps }) => steps.length),
    waits: turns.map(({ wait = null }) => wait),
    ending: { kind: 'published', files },
  };
}

/** A job that changes files, and has a setup, calls an MCP server, or waits once for a person. */
export function planSpecial({
  index,
  kind,
  repository,
  files,
  random,
  hasTools = kind === 'tools',
}: SpecialSketch): JobPlan {
  const environment = kind === 'setup' ? plannedEnvironments[index % plannedEnvironments.length]! : null;
  const steps = createSteps({
    index,
    name: `job-${index}`,
    files,
    random,
    thinkMs: () => random.between(50, 900),
    environment,
    hasTools,
  });
  const waiting: Assembly['turns'] =
    kind === 'plan'
      ? [{ steps: [steps.look(), steps.finish()], wait: 'approval' }]
      : kind === 'question'
        ? [{ steps: [steps.work(), steps.ask()], wait: 'answer' }]
        : [];
  const turns: Assembly['turns'] = [...waiting, { steps: [steps.work(), steps.work(), steps.finish()] }];
  return assemble({ index, repository, environment, turns, files: steps.files() });
}

/** A job that does all of it in four turns. Plans of the same random source differ in nothing but their index. */
export function planEverything({
  index,
  repository,
  files,
  random,
}: Omit<SpecialSketch, 'kind' | 'hasTools'>): JobPlan {
  const environment = plannedEnvironments[0]!;
  const steps = createSteps({ index, name: 'job', files, random, thinkMs: () => 20, environment, hasTools: true });
  const turns: Assembly['turns'] = [
    { steps: [steps.look(), steps.finish()], wait: 'approval' },
    { steps: [steps.work(), steps.work(), steps.ask()], wait: 'answer' },
    { steps: [steps.work(), steps.finish()] },
    { steps: [steps.work(), steps.finish()] },
  ];
  return assemble({ index, repository, environment, turns, files: steps.files() });
}
