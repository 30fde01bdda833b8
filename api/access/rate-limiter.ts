import type {
  RateLimitAnswer,
  RateLimitCounter,
  RateLimitStore,
  RateLimitPolicy,
} from '../../db/operations/rate-limits.ts';
import { isStoreDown } from '../../db/store-down.ts';
import { fitsOneMore, remainingOf, resetSecondsOf, type SlidingWindow } from '../../db/operations/sliding-window.ts';

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

interface Counter {
  bucket: number;
  current: number;
  previous: number;
}

const mostCounters = 50_000;

/** The sliding window of one process, for the time in which the shared store is away. */
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

  function remember(key: string, counter: Counter): void {
    counters.delete(key);
    counters.set(key, counter);
    const [oldest] = counters.keys();
    if (counters.size > mostCounters && oldest !== undefined) counters.delete(oldest);
  }

  /** Takes one from each if all have one left, and from none otherwise. */
  function take(requests: { key: string; policy: RateLimitPolicy }[]): RateLimitAnswer[] {
    const windows = requests.map(({ key, policy }) => ({ key, window: windowOf(key, policy) }));
    const isAllowed = windows.every(({ window }) => fitsOneMore(window));
    return windows.map(({ key, window }) => {
      const isOneMore = fitsOneMore(window);
      const after = isAllowed ? { ...window, current: window.current + 1 } : window;
      if (isAllowed) remember(key, { ...window.counter, current: after.current });
      return { allowed: isOneMore, remaining: remainingOf(after), resetSeconds: resetSecondsOf(after) };
    });
  }

  return { take };
}
