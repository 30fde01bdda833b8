import { remember } from '../../lib/remember.ts';
import { steadyNow } from './fresh-ms.ts';
import type { RateLimiter } from './rate-limiter.ts';

const policy = { name: 'auth', limit: 100, windowSeconds: 60 };

export type FailedAttempts = ReturnType<typeof createFailedAttempts>;

/** Counts refused keys per client address, separately from every other limit. */
export function createFailedAttempts({ limiter, now = steadyNow }: { limiter: RateLimiter; now?: () => number }) {
  const blockedUntil = new Map<string, number>();

  /** Returns the seconds for which the address is blocked, or 0 when it is not. */
  function blockedSeconds(address: string): number {
    const until = blockedUntil.get(address);
    if (until === undefined) return 0;
    if (until > now()) return Math.ceil((until - now()) / 1000);
    blockedUntil.delete(address);
    return 0;
  }

  return {
    blockedSeconds,
    /** Counts a refused key. Returns the seconds to wait when the limit is exceeded, otherwise 0. */
    async count(address: string): Promise<number> {
      const [answer] = await limiter.take([{ key: `auth:${address}`, policy }]);
      if (answer === undefined || answer.allowed) return 0;
      remember(blockedUntil, address, now() + answer.resetSeconds * 1000);
      return answer.resetSeconds;
    },
  };
}
