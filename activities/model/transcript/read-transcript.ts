import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobContext, JobContextStore } from '../../../db/for-worker/job-context.ts';
import type { StepKey, StepRow, StepStore } from '../../../db/for-worker/steps.ts';
import type { StepRef } from '../../../workflows/contract/job.ts';
import { instructionsOf, type Instructions } from '../stored-instructions.ts';
import { outputLength } from './masking.ts';
import { isBehind, transcriptAt, uptoOf, type Transcript } from './transcript.ts';

export interface TranscriptReaderDeps {
  steps: Pick<StepStore, 'listBetween'>;
  context: Pick<JobContextStore, 'read'>;
}

/** Limit for all cached jobs together. */
const maxCharacters = 64e6;
/** Characters that are measured between two turns of the event loop. */
const measuredAtOnce = 1e6;

export interface JobTranscript extends Transcript {
  instructions: Instructions;
}

interface Kept {
  /** The last step that the compaction covered. */
  upto: StepKey;
  steps: StepRow[];
  characters: number;
}

export type TranscriptReader = ReturnType<typeof createTranscriptReader>;

/**
 * Caches the steps of the jobs that this worker runs, so that a call reads only new steps from the database. A step is
 * cached once nothing writes it any more; a worker that takes over reads all of them.
 */
export function createTranscriptReader({ steps, context }: TranscriptReaderDeps) {
  const kept = new Map<string, Kept>();
  let characters = 0;

  function forget(jobId: string): void {
    characters -= kept.get(jobId)?.characters ?? 0;
    kept.delete(jobId);
  }

  /** The newest job is last; the oldest ones are evicted when space runs out. */
  function keep(jobId: string, entry: Kept): void {
    forget(jobId);
    kept.set(jobId, entry);
    characters += entry.characters;
    for (const oldest of kept.keys()) {
      if (characters <= maxCharacters) return;
      forget(oldest);
    }
  }

  /** `later` are the steps after the cached ones. */
  async function stepsOf(ref: StepRef, upto: StepKey, cached: Kept | undefined, later: StepRow[]): Promise<StepRow[]> {
    const { jobId } = ref;
    const isSame = cached !== undefined && isSameStep(cached.upto, upto);
    const old = isSame ? cached : { steps: [], characters: 0 };
    const fresh = isSame ? later : await steps.listBetween(jobId, { after: upto, before: ref });
    const settled = settledOf(fresh);
    const added = await lengthOfSteps(settled);
    keep(jobId, { upto, steps: [...old.steps, ...settled], characters: old.characters + added });
    return [...old.steps, ...fresh];
  }

  /** Returns the last step of a job that is cached; null when none is. */
  function lastKnown(jobId: string): StepKey | null {
    const cached = kept.get(jobId);
    const last = cached === undefined ? null : (cached.steps.at(-1) ?? cached.upto);
    return last === null ? null : { turn: last.turn, step: last.step };
  }

  return {
    lastKnown,

    /** Reads the conversation that the call of a step is made with. `context` is the call's as just read; null for none. */
    async read(ref: StepRef, read: JobContext | null = null): Promise<JobTranscript> {
      const [cached, known] = [kept.get(ref.jobId), lastKnown(ref.jobId)];
      // another attempt of this worker may have cached more since
      const isFresh = isSameStep(read?.known ?? null, known);
      const found = read !== null && isFresh ? read : await context.read(ref, known);
      const compaction = found.compaction === null || isBehind(found.compaction, ref) ? null : found.compaction;
      const compactions = compaction === null ? [] : [compaction];
      const all = await stepsOf(ref, uptoOf(compaction), cached, found.steps);
      const { prompts, notes, instructions } = found;
      const transcript = transcriptAt({ prompts, steps: all, notes, compactions }, ref);
      return { ...transcript, instructions: instructionsOf(instructions) };
    },
  };
}

function isSameStep(a: StepKey | null, b: StepKey | null): boolean {
  return a?.turn === b?.turn && a?.step === b?.step;
}

/** Returns the length of steps in characters, in chunks that do not block the event loop. */
async function lengthOfSteps(steps: StepRow[]): Promise<number> {
  let length = 0;
  let sinceTurn = 0;
  for (const { response, toolResults } of steps) {
    const added = JSON.stringify(response).length + outputLength(toolResults);
    length += added;
    sinceTurn += added;
    if (sinceTurn < measuredAtOnce) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return length;
}

/** Returns the leading steps that nothing writes any more: their results are stored, or a later step exists. */
function settledOf(fresh: StepRow[]): StepRow[] {
  const open = fresh.findIndex((step, index) => {
    const { response, toolResults } = step;
    const isWhole = response !== null && (response.toolCalls.length === 0 || toolResults !== null);
    return !isWhole && index === fresh.length - 1;
  });
  return open === -1 ? fresh : fresh.slice(0, open);
}
