import type { RateLimitCounter } from '../../db/operations/rate-limits.ts';
import type { AppContext } from '../http/app-context.ts';
import { tooManyRequests, type ApiError } from '../http/errors.ts';
import { rateLimitFields } from './rate-limit-fields.ts';
import type { RateLimiter } from './rate-limiter.ts';

export interface RequestCounter extends RateLimitCounter {
  /** Returns the error of a counter that the client can replace; where another one is used up too, it must wait. */
  refusal?: () => ApiError;
}

export type EnforceRateLimit = (ctx: Pick<AppContext, 'set'>, counters: RequestCounter[]) => Promise<void>;

/** Counts a request and sets the RateLimit header fields. Throws 429, or the counter's own refusal, when a limit is exhausted. */
export function createRateLimit({ limiter }: { limiter: RateLimiter }): EnforceRateLimit {
  return async function enforceRateLimit(ctx, counters) {
    const answers = await limiter.take(counters);
    const states = counters.flatMap(({ policy, refusal }, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [{ policy, refusal, answer }];
    });
    ctx.set(rateLimitFields(states));
    const spent = states.filter(({ answer }) => !answer.allowed);
    const waits = spent.filter(({ refusal }) => refusal === undefined).map(({ answer }) => answer.resetSeconds);
    if (waits.length > 0) throw tooManyRequests(Math.max(...waits));
    for (const { refusal } of spent) if (refusal !== undefined) throw refusal();
  };
}
