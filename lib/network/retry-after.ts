/**
 * Returns the wait that a `Retry-After` header asks for, in seconds or until a date (RFC 9110, section 10.2.3), in
 * milliseconds from `now`. Null without a valid header.
 */
export function readRetryAfter(header: string | number | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const text = String(header);
  const waitMs = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now;
  return Number.isNaN(waitMs) ? null : Math.max(waitMs, 0);
}
