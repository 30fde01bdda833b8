import { setTimeout as delay } from 'node:timers/promises';
import type { Compaction } from '../../db/for-worker/job-context.ts';
import type { StepAnswerEvents, StepResponse, StepStore, ToolStart } from '../../db/for-worker/steps.ts';
import type { NewJobEvent } from '../../db/jobs/event-types.ts';
import { isStoreDown } from '../../db/store-down.ts';
import type { KnownSecrets } from '../../lib/redaction/known-secrets.ts';
import type { PriceBook } from '../../models/prices.ts';
import type { ModelCall, TokenUsage } from '../../workflows/contract/job.ts';
import { takenOver } from '../attempt.ts';
import type { StepAnswer } from './ask-step.ts';
import { liveChunksOf, type LiveChunk, type StreamedText } from './live-text.ts';
import { scrubAnswer } from './transcript/scrub-answer.ts';

export interface StoreAnswerDeps {
  steps: Pick<StepStore, 'storeResponse'>;
  prices: Pick<PriceBook, 'costMicrosOf'>;
  secrets: KnownSecrets;
}

/** A step whose answer is stored. */
export interface AnsweredStep {
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  /** The newest compaction. */
  compaction: Compaction | null;
}

/**
 * Stores an answer with its cost and its events. Throws when another attempt has claimed the step meanwhile.
 */
export type StoreAnswer = (
  call: ModelCall,
  fence: number,
  answered: StepAnswer,
  signal: AbortSignal,
) => Promise<AnsweredStep & { start: ToolStart }>;

const maxWaitMs = 60_000;
const retryMs = 250;

export function createStoreAnswer({ steps, prices, secrets }: StoreAnswerDeps): StoreAnswer {
  return async function storeAnswer({ jobId, turn, step }, fence, { model, answer, transcript, text }, signal) {
    const costMicros = prices.costMicrosOf(model, answer.details);
    const scrubbed = await scrubAnswer({ ...answer, costMicros }, { secrets, signal });
    const { response } = scrubbed;
    const isFirst = !transcript.steps.some((one) => one.turn === turn && one.model === model);
    const { hash, definitions } = answer.tools;
    const hasTools = transcript.steps.some(({ toolsHash }) => toolsHash === hash);
    const notices: NewJobEvent[] =
      answer.ignoresEffort && isFirst
        ? [
            {
              type: 'notice',
              data: { text: `The model ${model} does not support reasoning effort; the setting is ignored.` },
            },
          ]
        : [];
    const stored = {
      jobId,
      turn,
      step,
      model,
      ...answer,
      tools: { hash, definitions: hasTools ? null : definitions },
      cachedTokens: answer.details.cachedInputTokens,
      cacheWriteTokens: answer.details.cacheWriteTokens,
      costMicros,
      response,
      knownMessages: transcript.prompts.filter((prompt) => prompt.turn === turn && prompt.step === step).length,
      events: eventsOf(text ?? { rest: null, whole: liveChunksOf(scrubbed.text) }, fence, [
        ...notices,
        ...scrubbed.events,
      ]),
    };
    const start = await untilStored(() => steps.storeResponse(stored), signal);
    if (start === null) throw takenOver();
    return { ...answer, response, compaction: transcript.compaction, start };
  };
}

/**
 * Retries while the database is unreachable, because the answer has been paid for. If an earlier try was stored and
 * only its confirmation was lost, `store` returns null.
 */
async function untilStored<Stored>(store: () => Promise<Stored>, signal: AbortSignal): Promise<Stored> {
  const deadline = Date.now() + maxWaitMs;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!isStoreDown(error) || Date.now() > deadline) throw error;
    }
    await delay(retryMs, undefined, { signal });
  }
}

/** Returns the events that watchers lack, or all of them again if another attempt has started meanwhile. */
function eventsOf({ rest, whole }: StreamedText, attempt: number, calls: NewJobEvent[]): StepAnswerEvents {
  const textOf = (chunk: LiveChunk): NewJobEvent => ({ type: 'text', data: { attempt, ...chunk } });
  const anew: NewJobEvent[] = [{ type: 'step-start', data: { attempt } }, ...whole.map(textOf), ...calls];
  return { attempt, ours: rest === null ? anew : [...rest.map(textOf), ...calls], overtaken: anew };
}
