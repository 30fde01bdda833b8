import type { RateLimitCounter } from '../../db/operations/rate-limits.ts';
import type { AppContext } from '../http/app-context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import type { RateLimiter } from './rate-limiter.ts';

export type EnforceRateLimit = (ctx: Pick<AppContext, 'set'>, counters: RateLimitCounter[]) => Promise<void>;

/** Counts a request and sets the RateLimit header fields. Throws 429 when a limit is exhausted. */
export function createRateLimit({ limiter }: { limiter: RateLimiter }): EnforceRateLimit {
  return async function enforceRateLimit(ctx, counters) {
    const answers = await limiter.take(counters);
    const states = counters.flatMap(({ policy }, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [{ policy, answer }];
    });
    ctx.set(rateLimitFields(states));
    const waits = answers.filter(({ allowed }) => !allowed).map(({ resetSeconds }) => resetSeconds);
    if (waits.length > 0) throw tooManyRequests(Math.max(...waits));
  };
}
