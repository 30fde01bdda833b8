const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/** Delay after each failed attempt: ten attempts over three days (Standard Webhooks, "Retry schedule"). */
export const webhookWaitsMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

const maxRetryAfterMs = 24 * hourMs;

/**
 * Returns the delay before the next attempt after `tries` failed ones, in milliseconds, or null if none is left.
 * `chance` (0 to 1) adds jitter of up to a fifth, so that many messages are not retried at once. The delay is never
 * shorter than the receiver requested.
 */
export function waitBeforeRetry({
  tries,
  retryAfter,
  waitsMs = webhookWaitsMs,
  chance,
  nowMs,
}: {
  tries: number;
  /** Value of the `Retry-After` header. */
  retryAfter: string | null;
  waitsMs?: readonly number[];
  chance: number;
  nowMs: number;
}): number | null {
  const planned = waitsMs[tries - 1];
  if (planned === undefined) return null;
  const requested = Math.min(retryAfter === null ? 0 : requestedWaitMs(retryAfter, nowMs), maxRetryAfterMs);
  return Math.round(Math.max(planned, requested) * (1 + chance / 5));
}

/** Parses seconds or a date (RFC 9110, 10.2.3); returns 0 for anything else. */
function requestedWaitMs(header: string, nowMs: number): number {
  if (/^\d{1,9}$/.test(header)) return Number(header) * secondMs;
  const date = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN;
  return Number.isNaN(date) ? 0 : Math.max(0, date - nowMs);
}
