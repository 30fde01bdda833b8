import { remember } from '../../lib/remember.ts';
import type {
  RateLimitAnswer,
  RateLimitCounter,
  RateLimitStore,
  RateLimitPolicy,
} from '../../db/operations/rate-limits.ts';
import { isStoreDown } from '../../db/store-down.ts';
import { fitsOneMore, remainingOf, resetSecondsOf, type SlidingWindow } from '../../db/operations/sliding-window.ts';

export interface RateLimiterDeps {
  store: Pick<RateLimitStore, 'take'>;
  /** Called when the store is unavailable and this process's own limit is used instead. */
  onFallback?: (error: unknown) => void;
  now?: () => number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/**
 * Creates a rate limiter that counts in the shared store, exactly across processes. While the store is unavailable, it
 * enforces the limits per process instead of not at all.
 */
export function createRateLimiter({ store, onFallback, now }: RateLimiterDeps) {
  const memory = createMemoryLimiter({ now });
  return {
    /** Takes one from every counter if all have one left, otherwise from none. Works per process without the store. */
    async take(counters: RateLimitCounter[]): Promise<RateLimitAnswer[]> {
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

interface Counter {
  bucket: number;
  current: number;
  previous: number;
}

const maxCounters = 50_000;

/** Creates an in-memory sliding-window limiter, used while the shared store is unavailable. */
function createMemoryLimiter({ now = Date.now }: { now?: () => number } = {}) {
  const counters = new Map<string, Counter>();

  function windowOf(key: string, policy: RateLimitPolicy): SlidingWindow & { counter: Counter } {
    const seconds = now() / 1000;
    const bucket = Math.floor(seconds / policy.windowSeconds);
    const stored = counters.get(key) ?? { bucket, current: 0, previous: 0 };
    const previous = stored.bucket === bucket ? stored.previous : stored.bucket === bucket - 1 ? stored.current : 0;
    const counter = { bucket, previous, current: stored.bucket === bucket ? stored.current : 0 };
    return {
      counter,
      ...counter,
      quota: policy.limit,
      widthSeconds: policy.windowSeconds,
      elapsedSeconds: seconds % policy.windowSeconds,
    };
  }

  /** Takes one from every counter if all have one left, otherwise from none. */
  function take(requests: { key: string; policy: RateLimitPolicy }[]): RateLimitAnswer[] {
    const windows = requests.map(({ key, policy }) => ({ key, window: windowOf(key, policy) }));
    const isAllowed = windows.every(({ window }) => fitsOneMore(window));
    return windows.map(({ key, window }) => {
      const isOneMore = fitsOneMore(window);
      const after = isAllowed ? { ...window, current: window.current + 1 } : window;
      if (isAllowed) remember(counters, key, { ...window.counter, current: after.current }, maxCounters);
      return { allowed: isOneMore, remaining: remainingOf(after), resetSeconds: resetSecondsOf(after) };
    });
  }

  return { take };
}
