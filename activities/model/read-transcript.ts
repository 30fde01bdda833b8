import type { Compaction, JobContextStore } from '../../db/for-worker/job-context.ts';
import type { WorkerJobStore } from '../../db/for-worker/jobs.ts';
import type { StepRow, StepStore } from '../../db/for-worker/steps.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import { isBehind, transcriptAt, uptoOf, type Transcript } from './transcript.ts';

export interface TranscriptReaderDeps {
  jobs: Pick<WorkerJobStore, 'prompts'>;
  steps: Pick<StepStore, 'listBetween'>;
  context: Pick<JobContextStore, 'notes' | 'compactions'>;
  /** What is kept of all jobs together, in characters. */
  mostCharacters?: number;
}

/** Reads what the call of a step is made with. */
export type ReadTranscript = (ref: StepRef) => Promise<Transcript>;

interface Kept {
  from: string;
  steps: StepRow[];
  characters: number;
}

/**
 * Keeps the steps of the jobs this worker is at, so that a call reads from the database only what is new. A step is kept
 * once nothing writes it any more; what a worker that was killed had kept is read again.
 */
export function createTranscriptReader({
  jobs,
  steps,
  context,
  mostCharacters = 64e6,
}: TranscriptReaderDeps): ReadTranscript {
  const kept = new Map<string, Kept>();
  let characters = 0;

  function forget(jobId: string): void {
    characters -= kept.get(jobId)?.characters ?? 0;
    kept.delete(jobId);
  }

  /** The newest job stands last; the others go when there is no room. */
  function keep(jobId: string, entry: Kept): void {
    forget(jobId);
    kept.set(jobId, entry);
    characters += entry.characters;
    for (const oldest of kept.keys()) {
      if (characters <= mostCharacters) return;
      forget(oldest);
    }
  }

  async function stepsOf(ref: StepRef, compaction: Compaction | null): Promise<StepRow[]> {
    const { jobId } = ref;
    const upto = uptoOf(compaction);
    const from = `${upto.turn}.${upto.step}`;
    const found = kept.get(jobId);
    const old = found?.from === from ? found : { from, steps: [], characters: 0 };
    const last = old.steps.at(-1) ?? upto;
    const fresh = await steps.listBetween(jobId, { after: last, before: ref });
    const settled = settledOf(fresh);
    const added = settled.reduce((sum, step) => sum + JSON.stringify([step.response, step.toolResults]).length, 0);
    keep(jobId, { from, steps: [...old.steps, ...settled], characters: old.characters + added });
    return [...old.steps, ...fresh];
  }

  return async function readTranscript(ref) {
    const { jobId, turn } = ref;
    const [newest = null] = await context.compactions(jobId, 1);
    const compaction = newest === null || isBehind(newest, ref) ? null : newest;
    const [prompts, rows, notes] = await Promise.all([
      jobs.prompts(jobId, turn),
      stepsOf(ref, compaction),
      context.notes(jobId, turn),
    ]);
    const compactions = compaction === null ? [] : [compaction];
    return transcriptAt({ prompts, steps: rows, notes, compactions }, ref);
  };
}

/** The steps, from the first on, that nothing writes any more: their results are there, or a later step is. */
function settledOf(fresh: StepRow[]): StepRow[] {
  const open = fresh.findIndex((step, index) => {
    const { response, toolResults } = step;
    const isWhole = response !== null && (response.toolCalls.length === 0 || toolResults !== null);
    return !isWhole && index === fresh.length - 1;
  });
  return open === -1 ? fresh : fresh.slice(0, open);
}
