import type { RateLimitAnswer, RateLimitPolicy } from '../../db/operations/rate-limits.ts';

/** Returns the RateLimit header fields for the given counters. */
export function rateLimitFields(
  states: { policy: RateLimitPolicy; answer: RateLimitAnswer }[],
): Record<string, string> {
  return {
    'RateLimit-Policy': states
      .map(({ policy }) => `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`)
      .join(', '),
    RateLimit: states
      .map(({ policy, answer }) => `"${policy.name}";r=${answer.remaining};t=${answer.resetSeconds}`)
      .join(', '),
  };
}
