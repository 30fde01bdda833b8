import { setTimeout as delay } from 'node:timers/promises';
import type { Compaction } from '../../db/for-worker/job-context.ts';
import type { StepAnswerEvents, StepResponse, StepStore } from '../../db/for-worker/steps.ts';
import type { NewJobEvent } from '../../db/jobs/event-types.ts';
import { isStoreDown } from '../../db/store-down.ts';
import { maskDeep } from '../../lib/redaction/known-secrets.ts';
import type { PriceBook } from '../../models/prices.ts';
import type { ModelCall, TokenUsage } from '../../workflows/contract/job.ts';
import { takenOver } from '../attempt.ts';
import type { StepAnswer } from './ask-step.ts';
import { eventsOfAnswer } from './job-events.ts';
import type { LivePiece, SpokenText } from './live-text.ts';

export interface StoreAnswerDeps {
  steps: Pick<StepStore, 'storeResponse'>;
  prices: Pick<PriceBook, 'costMicrosOf'>;
  maskSecrets(text: string): string;
  redact(text: string): string;
}

/** A step whose answer is stored. */
export interface AnsweredStep {
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  /** The newest one. */
  compaction: Compaction | null;
}

/** Stores an answer with its cost and its events. Throws when another attempt has claimed the step meanwhile. */
export type StoreAnswer = (
  call: ModelCall,
  fence: number,
  answered: StepAnswer,
  signal: AbortSignal,
) => Promise<AnsweredStep>;

const patienceMs = 60_000;
const retryMs = 250;

export function createStoreAnswer({ steps, prices, maskSecrets, redact }: StoreAnswerDeps): StoreAnswer {
  return async function storeAnswer({ jobId, turn, step }, fence, { model, answer, transcript, text }, signal) {
    const response = maskedResponse(answer.response, maskSecrets);
    const costMicros = prices.costMicrosOf(model, answer.details);
    const calls = eventsOfAnswer({ ...answer, toolCalls: response.toolCalls, costMicros }, redact);
    const stored = {
      jobId,
      turn,
      step,
      ...answer,
      cachedTokens: answer.details.cachedInputTokens,
      costMicros,
      response,
      knownMessages: transcript.prompts.filter((prompt) => prompt.turn === turn && prompt.step === step).length,
      events: eventsOf(text, fence, calls),
    };
    if (!(await untilStored(() => steps.storeResponse(stored), signal))) throw takenOver();
    return { ...answer, response, compaction: transcript.compaction };
  };
}

/**
 * The answer is paid for: a database that is away for a moment does not lose it. When an earlier try was stored and only its
 * confirmation was lost, `store` answers false.
 */
async function untilStored(store: () => Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    try {
      return await store();
    } catch (error) {
      if (!isStoreDown(error) || Date.now() > deadline) throw error;
    }
    await delay(retryMs, undefined, { signal });
  }
}

/** The events that watchers do not have yet, or all anew when another attempt has begun meanwhile. */
function eventsOf({ rest, whole }: SpokenText, attempt: number, calls: NewJobEvent[]): StepAnswerEvents {
  const textOf = (piece: LivePiece): NewJobEvent => ({ type: 'text', data: { attempt, ...piece } });
  const anew: NewJobEvent[] = [{ type: 'step-start', data: { attempt } }, ...whole.map(textOf), ...calls];
  return { attempt, ours: rest === null ? anew : [...rest.map(textOf), ...calls], overtaken: anew };
}

function maskedResponse(response: StepResponse, mask: (text: string) => string): StepResponse {
  return {
    content: response.content.map((part) => maskDeep(part, mask)),
    text: mask(response.text),
    toolCalls: response.toolCalls.map((call) => ({
      ...call,
      // the same in the content: a result is found by it
      toolCallId: mask(call.toolCallId),
      toolName: mask(call.toolName),
      input: maskDeep(call.input, mask),
    })),
  };
}
