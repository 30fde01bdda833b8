import { APICallError } from 'ai';
import { readRetryAfter } from '../../lib/network/retry-after.ts';
import { UnknownModelError } from '../../models/registry.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import type { Verdict } from '../tools/verdict.ts';

interface FailedCall {
  cause: unknown;
  model: string;
  receivedCharacters?: number;
  isLate?: boolean;
}

/** The language model failed. The provider's response is in the cause, which goes only to the worker's log. */
export class ModelCallError extends Error {
  override name = 'ModelCallError';
  readonly model: string;
  /** Length of the part of the answer that had arrived. */
  readonly receivedCharacters: number;
  /** Whether the time for an answer ran out. */
  readonly isLate: boolean;

  constructor(message: string, { cause, model, receivedCharacters = 0, isLate = false }: FailedCall) {
    super(message, { cause });
    this.model = model;
    this.receivedCharacters = receivedCharacters;
    this.isLate = isLate;
  }
}

/** The provider answered with nothing usable. */
export class UnusableAnswerError extends Error {
  override name = 'UnusableAnswerError';
}

/** The model declined; asking again gives the same result. */
export class DeclinedAnswerError extends Error {
  override name = 'DeclinedAnswerError';
}

/** The answer reached its limit before it said anything: the model spent it on reasoning, or on one call. */
export class SpentLimitError extends Error {
  override name = 'SpentLimitError';
}

/** Reports whether a call ended without an answer, and would so again. */
export function isUnanswerable(error: unknown): boolean {
  if (!(error instanceof ModelCallError)) return false;
  return error.cause instanceof DeclinedAnswerError || error.cause instanceof SpentLimitError;
}

/** Failures of one call before the provider counts as down; with backoff, about two minutes. */
const toleratedFailures = 7;
const maxWaitMs = 3_600_000;
/** Refusals: the same request gets the same response. */
const finalStatuses = new Set([400, 401, 402, 403, 404, 405, 406, 410, 413, 415, 422, 451]);
/** The provider has no such model, or no longer. */
const goneStatuses = new Set([404, 410]);
const spentLimit =
  'The model reached its output limit before it answered. Raise maxOutputTokens, lower reasoningEffort, or split the task.';
/** Advice for statuses that usually have one cause. */
const advice: Readonly<Record<number, string>> = {
  401: ' Check the API key.',
  403: ' Check whether the API key may use the model.',
  404: ' Check the name of the model and the base URL.',
};

/** How providers and servers report that a request is too long; only OpenAI has a code for it. */
const overflow = new RegExp(
  [
    'context[ _-]?(?:length|limit|size|window)',
    'maximum (?:model|prompt) length',
    '(?:input|prompt) (?:is )?too long',
    '(?:input|prompt) token count',
    'too many (?:input )?tokens',
    'exceeds? the (?:maximum|limit).{0,40}tokens',
    'exceeded model token limit',
    'reduce the length of the messages',
    '`inputs` tokens',
  ].join('|'),
  'i',
);
const overflowStatuses = new Set([400, 422]);

/** Reports whether the provider rejected a request because it exceeds the model's context window. */
export function isContextOverflow(error: unknown): boolean {
  if (!(error instanceof ModelCallError)) return false;
  const { cause } = error;
  if (!APICallError.isInstance(cause)) return false;
  if (cause.statusCode === 413) return true;
  return overflowStatuses.has(cause.statusCode ?? 0) && overflow.test(`${cause.message} ${cause.responseBody ?? ''}`);
}

/** Reports whether the provider rejected the content of a request, such as an image that it cannot read. */
export function isRejectedContent(error: unknown): boolean {
  if (!(error instanceof ModelCallError) || !APICallError.isInstance(error.cause)) return false;
  return [400, 415, 422].includes(error.cause.statusCode ?? 0);
}

/**
 * Returns the failure of the activity: temporary failures are retried when the provider says, and a refusal ends the
 * job with a fixed sentence.
 */
export function verdictOfModelFailure({ cause }: ModelCallError): Verdict {
  if (cause instanceof DeclinedAnswerError) return refused('The model declined to work on the task.');
  // each try is paid in full
  if (cause instanceof SpentLimitError) return { ...refused(spentLimit), tolerated: 1 };
  if (!APICallError.isInstance(cause))
    return unavailable("The model provider's response ended early or could not be used.");
  const { statusCode } = cause;
  if (statusCode === undefined) return unavailable('The model provider could not be reached.');
  if (finalStatuses.has(statusCode))
    return refused(`The model provider rejected the request with status ${statusCode}.${advice[statusCode] ?? ''}`);
  if (statusCode >= 300 && statusCode < 400)
    return refused('The model provider redirects to another address. Check its base URL.');
  if (statusCode < 400) return unavailable("The model provider's response could not be used.");
  return {
    ...unavailable(`The model provider answered with status ${statusCode}.`),
    retryAfterMs: retryAfterOf(cause),
  };
}

/** Longest wait that a provider may request before a fallback is used. */
const maxModelWaitMs = 60_000;

export interface ModelOutage {
  model: string;
  /** Whether the model does not exist, so that a retry fails in the same way. */
  isGone: boolean;
  /** Whether a fallback is used without a retry. */
  isCertain: boolean;
}

/**
 * Returns whether a failure says that the model is down, which another model may make up for; null for others. What the
 * provider refuses is no outage: another model would hide a wrong key, or a task that a model declines.
 */
export function outageOf(error: unknown): ModelOutage | null {
  if (error instanceof UnknownModelError) return { model: error.model, isGone: true, isCertain: true };
  if (!(error instanceof ModelCallError)) return null;
  const { model, cause, isLate } = error;
  if (APICallError.isInstance(cause) && goneStatuses.has(cause.statusCode ?? 0))
    return { model, isGone: true, isCertain: true };
  const { category, retryAfterMs } = verdictOfModelFailure(error);
  if (category !== FailureType.ModelUnavailable) return null;
  return { model, isGone: false, isCertain: isLate || (retryAfterMs ?? 0) > maxModelWaitMs };
}

function retryAfterOf({ responseHeaders }: APICallError): number | null {
  const milliseconds = Number(responseHeaders?.['retry-after-ms'] ?? Number.NaN);
  if (milliseconds >= 0) return Math.min(milliseconds, maxWaitMs);
  const waitMs = readRetryAfter(responseHeaders?.['retry-after']);
  return waitMs === null ? null : Math.min(waitMs, maxWaitMs);
}

function refused(message: string): Verdict {
  return { category: FailureType.ModelRefused, tolerated: 0, message, retryAfterMs: null };
}

function unavailable(message: string): Verdict {
  return { category: FailureType.ModelUnavailable, tolerated: toleratedFailures, message, retryAfterMs: null };
}
