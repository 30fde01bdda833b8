import type { RateLimitAnswer, RateLimitCounter, RateLimitStore } from '../../db/operations/rate-limits.ts';
import { isStoreDown } from '../../db/store-down.ts';
import { createMemoryLimiter } from './memory-limiter.ts';

export interface RateLimiter {
  /** Takes one from each counter if all have one left, and from none otherwise. Works without the store, per process. */
  take(counters: RateLimitCounter[]): Promise<RateLimitAnswer[]>;
}

export interface RateLimiterDeps {
  store: Pick<RateLimitStore, 'take'>;
  /** Told when the store is away and the limit of this process takes over. */
  onFallback?: (error: unknown) => void;
  now?: () => number;
}

/** Limits in the shared store, exact across processes; while it is away a limit of this process stands in, never none. */
export function createRateLimiter({ store, onFallback, now }: RateLimiterDeps): RateLimiter {
  const memory = createMemoryLimiter({ now });
  return {
    async take(counters) {
      try {
        return await store.take(counters);
      } catch (error) {
        if (!isStoreDown(error)) throw error;
        onFallback?.(error);
        return memory.take(counters);
      }
    },
  };
}
