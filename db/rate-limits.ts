import type { Pool } from 'pg';

export interface RateLimitPolicy {
  /** Name in the RateLimit header fields, e.g. `org`. */
  name: string;
  limit: number;
  windowSeconds: number;
}

export interface RateLimitAnswer {
  allowed: boolean;
  remaining: number;
  /** Seconds until the window lets something through again or resets. */
  resetSeconds: number;
}

export interface RateLimitStore {
  /** Takes one from each of the counters if all have one left, and from none otherwise. Sliding window on database time. */
  take(counters: { key: string; policy: RateLimitPolicy }[]): Promise<RateLimitAnswer[]>;
  /** Removes buckets that no window reaches. */
  sweep(): Promise<void>;
}

export declare function createRateLimitStore(pool: Pool): RateLimitStore;
