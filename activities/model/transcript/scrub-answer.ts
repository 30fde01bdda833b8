import type { StepResponse } from '../../../db/for-worker/steps.ts';
import type { NewJobEvent } from '../../../db/jobs/event-types.ts';
import { maskDeep, type KnownSecrets, type SecretMasks } from '../../../lib/redaction/known-secrets.ts';
import { runInThread } from '../../../lib/threads/run-in-thread.ts';
import { eventsOfAnswer, type AnswerCost } from '../job-events.ts';

export interface AnswerToScrub extends AnswerCost {
  response: StepResponse;
  receivedCharacters: number;
}

export interface ScrubbedAnswer {
  /** The answer as it is stored. */
  response: StepResponse;
  events: NewJobEvent[];
  /** The text as it is shown. */
  text: string;
}

/** In characters. Redaction takes up to a millisecond per 1,000. */
const shortAnswer = 16_000;
const deadlineMs = 30_000;

/** Redacts an answer, in a thread if it is long. */
export async function scrubAnswer(
  answer: AnswerToScrub,
  { secrets, signal }: { secrets: KnownSecrets; signal: AbortSignal },
): Promise<ScrubbedAnswer> {
  if (answer.receivedCharacters <= shortAnswer) return scrub(answer, secrets);
  return runInThread<object, ScrubbedAnswer>({
    script: new URL('./scrub-thread.ts', import.meta.url),
    data: { answer, secrets: secrets.here().values },
    signal: AbortSignal.any([signal, AbortSignal.timeout(deadlineMs)]),
  });
}

export function scrub(answer: AnswerToScrub, masks: SecretMasks): ScrubbedAnswer {
  const response = maskedResponse(answer.response, masks);
  const events = eventsOfAnswer({ ...answer, toolCalls: response.toolCalls }, masks.redact);
  return { response, events, text: masks.redact(answer.response.text) };
}

/** Masks a part of an answer; the input of a call like that of the call itself. */
function maskedPart(part: unknown, { mask, maskInput }: Pick<SecretMasks, 'mask' | 'maskInput'>): unknown {
  if (typeof part !== 'object' || part === null) return maskDeep(part, mask);
  const masked = ([key, value]: [string, unknown]) => [key, maskDeep(value, key === 'input' ? maskInput : mask)];
  return Object.fromEntries(Object.entries(part).map(masked));
}

function maskedResponse(response: StepResponse, { mask, maskInput }: SecretMasks): StepResponse {
  return {
    content: response.content.map((part) => maskedPart(part, { mask, maskInput })),
    text: mask(response.text),
    toolCalls: response.toolCalls.map((call) => ({
      ...call,
      // the same id in the content, because results are matched by it
      toolCallId: mask(call.toolCallId),
      toolName: mask(call.toolName),
      input: maskDeep(call.input, maskInput),
    })),
  };
}
