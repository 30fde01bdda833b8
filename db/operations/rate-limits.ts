import type { Pool, PoolClient } from 'pg';
import { deleteInBatches } from '../delete-in-batches.ts';
import { remainingOf, resetSecondsOf } from './sliding-window.ts';

export interface RateLimitPolicy {
  /** Name in the RateLimit header fields, e.g. `org`. */
  name: string;
  limit: number;
  windowSeconds: number;
}

export interface RateLimitAnswer {
  allowed: boolean;
  remaining: number;
  /** Seconds until the window admits something again or resets. */
  resetSeconds: number;
}

export interface RateLimitCounter {
  key: string;
  policy: RateLimitPolicy;
}

/** A change that was refused because its counter was used up. */
export class AllowanceError extends Error {
  override name = 'AllowanceError';
  readonly policy: RateLimitPolicy;
  readonly answer: RateLimitAnswer;

  constructor(policy: RateLimitPolicy, answer: RateLimitAnswer) {
    super('The allowance is used up.');
    this.policy = policy;
    this.answer = answer;
  }
}

interface CounterRow {
  key: string;
  current: number;
  previous: number;
  elapsedSeconds: number;
  fits: boolean;
  taken: boolean;
}

export type RateLimitStore = ReturnType<typeof createRateLimitStore>;

/** Creates counters in PostgreSQL, shared by all API processes. */
export function createRateLimitStore(pool: Pool) {
  /** Removes buckets that no window covers. */
  async function sweep(): Promise<void> {
    await deleteInBatches(
      pool,
      `delete from rate_limits where key = any(array(
         select key from rate_limits where expires_at < now() order by expires_at limit $1 for update skip locked
       ))`,
    );
  }

  return {
    /** Takes one from each counter if all have one left, and from none otherwise. Sliding window on database time. */
    take: (counters: RateLimitCounter[]): Promise<RateLimitAnswer[]> => takeAll(pool, counters, takeAlone),
    sweep,
  };
}

/**
 * Counts a change in the transaction that makes it, so that only what succeeds counts. Throws AllowanceError, which
 * rolls the change back, when the counter is used up.
 */
export async function takeAllowance(client: PoolClient, counter: RateLimitCounter): Promise<RateLimitAnswer> {
  const [answer] = await takeAll(client, [counter], takeWithin);
  if (answer === undefined) throw new Error('A rate limit counter returned no row.');
  if (!answer.allowed) throw new AllowanceError(counter.policy, answer);
  return answer;
}

async function takeAll(
  client: Pool | PoolClient,
  counters: RateLimitCounter[],
  statement: typeof takeAlone,
): Promise<RateLimitAnswer[]> {
  if (counters.length === 0) return [];
  const keys = counters.map(({ key }) => key);
  const quotas = counters.map(({ policy }) => policy.limit);
  const widths = counters.map(({ policy }) => policy.windowSeconds);
  for (;;) {
    const { rows } = await client.query<CounterRow>({ ...statement, values: [keys, quotas, widths] });
    const byKey = new Map(rows.map((row) => [row.key, row]));
    const answers = counters.flatMap(({ key, policy }) => {
      const row = byKey.get(key);
      return row === undefined ? [] : [answerOf(row, policy)];
    });
    if (answers.length === counters.length) return answers;
    await client.query(addCounters, [keys, widths]);
  }
}

function answerOf(row: CounterRow, policy: RateLimitPolicy): RateLimitAnswer {
  const window = {
    quota: policy.limit,
    widthSeconds: policy.windowSeconds,
    current: row.taken ? row.current + 1 : row.current,
    previous: row.previous,
    elapsedSeconds: row.elapsedSeconds,
  };
  return { allowed: row.fits, remaining: remainingOf(window), resetSeconds: resetSecondsOf(window) };
}

/**
 * Locks the counters in the order of their keys, moves each to the running bucket, and counts one in all of them if one
 * fits in each. A statement that waited for the lock past the end of a bucket finds the newer bucket, and counts there.
 */
const takeOne = (settings: string) => `
    with settings as materialized (
      ${settings}
    ), wanted as (
      select key, quota, width, extract(epoch from now())::float8 as at,
             (floor(extract(epoch from now()) / width) * width)::bigint as bucket
      from unnest($1::text[], $2::float8[], $3::bigint[]) as wanted (key, quota, width)
    ), locked as materialized (
      select key, bucket_start, current, previous from rate_limits where key = any($1::text[]) order by key for update
    ), moved as (
      select key, quota, width,
             greatest(bucket_start, bucket) as bucket,
             case when bucket_start >= bucket then current else 0 end as current,
             case when bucket_start >= bucket then previous when bucket_start = bucket - width then current else 0 end as previous,
             greatest(at - greatest(bucket_start, bucket), 0)::float8 as elapsed
      from wanted join locked using (key)
    ), judged as (
      select *, current + previous * (1 - elapsed / width) + 1 <= quota as fits from moved
    ), verdict as (
      select count(*) = cardinality($1::text[]) and bool_and(fits) as taken from judged
    ), counted as (
      update rate_limits
      set bucket_start = judged.bucket, current = judged.current + 1, previous = judged.previous,
          expires_at = 'epoch'::timestamptz + (judged.bucket + 2 * judged.width) * interval '1 second'
      from judged, verdict
      where verdict.taken and rate_limits.key = judged.key
    )
    select key, current, previous, elapsed as "elapsedSeconds", fits, taken from judged, verdict, settings`;

/** Losing the last moments of a count in a crash is cheaper than waiting for the disk. */
const takeAlone = {
  name: 'take-rate-limits',
  text: takeOne(`select set_config('synchronous_commit', 'off', true)`),
};
/** The counted change itself is written durably. */
const takeWithin = { name: 'take-rate-limits-within', text: takeOne('select') };

const addCounters = `
  insert into rate_limits (key, bucket_start, expires_at)
  select key, floor(extract(epoch from now()) / width) * width, now() + 2 * width * interval '1 second'
  from unnest($1::text[], $2::bigint[]) as wanted (key, width)
  order by key
  on conflict (key) do nothing`;
