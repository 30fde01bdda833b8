import type { AppContext } from '../app-context.ts';
import { tooManyRequests } from '../errors.ts';

interface Policy {
  name: string;
  limit: number;
  windowSeconds: number;
}

interface Answer {
  allowed: boolean;
  remaining: number;
  resetSeconds: number;
}

export interface RateLimitDeps {
  limiter: { take(counters: { key: string; policy: Policy }[]): Promise<Answer[]> };
}

export type EnforceRateLimit = (
  ctx: Pick<AppContext, 'set'>,
  counters: { key: string; policy: Policy }[],
) => Promise<void>;

/** Counts a request and says in the RateLimit header fields how it stands; throws 429 when a limit is used up. */
export function createRateLimit({ limiter }: RateLimitDeps): EnforceRateLimit {
  return async function enforceRateLimit(ctx, counters) {
    const answers = await limiter.take(counters);
    const states = counters.flatMap(({ policy }, index) => {
      const answer = answers[index];
      return answer === undefined ? [] : [{ policy, answer }];
    });
    ctx.set(
      'RateLimit-Policy',
      states.map(({ policy }) => `"${policy.name}";q=${policy.limit};w=${policy.windowSeconds}`).join(', '),
    );
    ctx.set(
      'RateLimit',
      states.map(({ policy, answer }) => `"${policy.name}";r=${answer.remaining};t=${answer.resetSeconds}`).join(', '),
    );
    const waits = answers.filter(({ allowed }) => !allowed).map(({ resetSeconds }) => resetSeconds);
    if (waits.length > 0) throw tooManyRequests(Math.max(...waits));
  };
}
