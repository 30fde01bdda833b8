import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobContextStore } from '../../../db/for-worker/job-context.ts';
import type { StepRow, StepStore } from '../../../db/for-worker/steps.ts';
import type { StepRef } from '../../../workflows/contract/job.ts';
import { instructionsOf, type Instructions } from '../stored-instructions.ts';
import { outputLength } from './masking.ts';
import { isBehind, transcriptAt, uptoOf, type StepKey, type Transcript } from './transcript.ts';

export interface TranscriptReaderDeps {
  steps: Pick<StepStore, 'listBetween'>;
  context: Pick<JobContextStore, 'read'>;
}

/** Limit for all cached jobs together. */
const mostCharacters = 64e6;
/** Characters that are measured between two turns of the event loop. */
const measuredAtOnce = 1e6;

export interface JobTranscript extends Transcript {
  instructions: Instructions;
}

/** Reads the conversation that the call of a step is made with. */
export type ReadTranscript = (ref: StepRef) => Promise<JobTranscript>;

interface Kept {
  /** The last step that the compaction covered. */
  upto: StepKey;
  steps: StepRow[];
  characters: number;
}

/**
 * Caches the steps of the jobs that this worker runs, so that a call reads only new steps from the database. A step is
 * cached once nothing writes it any more; a worker that takes over reads all of them.
 */
export function createTranscriptReader({ steps, context }: TranscriptReaderDeps): ReadTranscript {
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
      if (characters <= mostCharacters) return;
      forget(oldest);
    }
  }

  /** `later` are the steps after the cached ones. */
  async function stepsOf(ref: StepRef, upto: StepKey, cached: Kept | undefined, later: StepRow[]): Promise<StepRow[]> {
    const { jobId } = ref;
    const isSame = cached !== undefined && !isBehind(cached.upto, upto) && !isBehind(upto, cached.upto);
    const old = isSame ? cached : { steps: [], characters: 0 };
    const fresh = isSame ? later : await steps.listBetween(jobId, { after: upto, before: ref });
    const settled = settledOf(fresh);
    const added = await lengthOfSteps(settled);
    keep(jobId, { upto, steps: [...old.steps, ...settled], characters: old.characters + added });
    return [...old.steps, ...fresh];
  }

  return async function readTranscript(ref) {
    const cached = kept.get(ref.jobId);
    const known = cached === undefined ? null : (cached.steps.at(-1) ?? cached.upto);
    const { prompts, notes, compaction: newest, instructions, steps: later } = await context.read(ref, known);
    const compaction = newest === null || isBehind(newest, ref) ? null : newest;
    const compactions = compaction === null ? [] : [compaction];
    const found = await stepsOf(ref, uptoOf(compaction), cached, later);
    const transcript = transcriptAt({ prompts, steps: found, notes, compactions }, ref);
    return { ...transcript, instructions: instructionsOf(instructions) };
  };
}

/** Returns the length of steps in characters, in pieces that do not block the event loop. */
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
