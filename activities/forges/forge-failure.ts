import { readRetryAfter } from '../../lib/network/retry-after.ts';
import { ForgeError } from './forge.ts';

export type ForgeHeaders = Readonly<Record<string, string | number | undefined>>;

export interface ForgeAnswer {
  /** Name of the forge, for error messages. */
  forge: string;
  status: number;
  headers: ForgeHeaders;
  /** Message of a 403 response: some forges report a rate limit only there. */
  message?: string;
}

const defaultLimitWaitMs = 60_000;
/** Forges reset their rate limits at least once an hour. */
const maxWaitMs = 60 * 60_000;

/** Returns the error for the status and headers of a failed request. A `rejected` one names only the status. */
export function failureOfAnswer(answer: ForgeAnswer): ForgeError {
  const { forge, status, headers } = answer;
  if (isRateLimit(answer)) {
    const retryAfterMs = Math.min(waitOf(headers) ?? defaultLimitWaitMs, maxWaitMs);
    const minutes = Math.ceil(retryAfterMs / 60_000);
    const message = `${forge} rate-limits this credential; requests are accepted again in ${minutes} min.`;
    return new ForgeError('rate-limited', message, { retryAfterMs });
  }
  if (status === 401) {
    const remedy = 'give the project or the worker a valid token, then retry the job';
    return new ForgeError('authentication', `${forge} rejected the credential; ${remedy}.`);
  }
  if (status === 403) {
    const needs = 'it needs read and write access to contents and pull requests';
    return new ForgeError('authentication', `The ${forge} credential may not do this; ${needs}.`);
  }
  if (status === 404 || status === 410) {
    return new ForgeError('not-found', `The repository does not exist on ${forge}, or the credential cannot see it.`);
  }
  if (status >= 300 && status < 400) {
    const remedy = 'enter the new one in the settings of the project or site';
    return new ForgeError('not-found', `The repository has moved to another address on ${forge}; ${remedy}.`);
  }
  if (status >= 500 || status === 408) {
    const waitMs = waitOf(headers);
    const retryAfterMs = waitMs === null ? undefined : Math.min(waitMs, maxWaitMs);
    return new ForgeError('unavailable', `${forge} answered ${status}.`, { retryAfterMs });
  }
  return new ForgeError('rejected', `${forge} rejected the request with status ${status}.`);
}

function isRateLimit({ status, headers, message = '' }: ForgeAnswer): boolean {
  if (status === 429) return true;
  if (status !== 403) return false;
  return headers['retry-after'] !== undefined || remainingOf(headers) === 0 || /rate limit/i.test(message);
}

function remainingOf(headers: ForgeHeaders): number | null {
  const remaining = headers['x-ratelimit-remaining'] ?? headers['ratelimit-remaining'];
  return remaining === undefined ? null : Number(remaining);
}

/** Returns the time to wait, in milliseconds, by the server's clock if the response has a date. */
function waitOf(headers: ForgeHeaders): number | null {
  const nowMs = Date.parse(String(headers['date'])) || Date.now();
  const waitMs = readRetryAfter(headers['retry-after'], nowMs);
  if (waitMs !== null) return Math.max(waitMs, 1000);
  const resetSeconds = Number(headers['x-ratelimit-reset'] ?? headers['ratelimit-reset']);
  if (remainingOf(headers) !== 0 || !Number.isFinite(resetSeconds)) return null;
  return Math.max(resetSeconds * 1000 - nowMs, 1000);
}
