import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';

/** Minimum time between two notifications of a process. */
const restMs = 50;
/** Changed jobs whose watchers are not notified yet, by the pool that the stores of a process share. */
const waiting = new WeakMap<Pool, Set<string>>();
const ownWatchers = new WeakMap<Pool, Set<(jobId: string) => void>>();
/** A request must not lend its share of the connections to the notifications of others. */
const outsideRequests = AsyncLocalStorage.snapshot();

/**
 * Wakes the watchers of a job, in any process. Call it after the commit that changed the job: a notification within the
 * transaction would serialize the commits of all writers. The first change is announced at once, those of the next 50 ms
 * together. What a failure or a crash loses, the watchers' poll finds.
 */
export function wakeWatchers(pool: Pool, jobId: string): void {
  for (const changed of ownWatchers.get(pool) ?? []) changed(jobId);
  const changed = waiting.get(pool);
  if (changed !== undefined) {
    changed.add(jobId);
    return;
  }
  const first = new Set([jobId]);
  waiting.set(pool, first);
  outsideRequests(() => void announce(pool, first));
}

/** Calls back immediately after each change by this process, before its notification arrives. */
export function onOwnChange(pool: Pool, changed: (jobId: string) => void): void {
  const watchers = ownWatchers.get(pool) ?? new Set();
  ownWatchers.set(pool, watchers.add(changed));
}

async function announce(pool: Pool, changed: Set<string>): Promise<void> {
  while (changed.size > 0) {
    const jobIds = [...changed];
    changed.clear();
    await notify(pool, jobIds).catch(() => undefined);
    await delay(restMs, undefined, { ref: false });
  }
  waiting.delete(pool);
}

/** Does not wait for the WAL, as a notification is not durable anyway. */
async function notify(pool: Pool, jobIds: string[]): Promise<void> {
  await pool.query({
    name: 'wake-watchers',
    text: `
      select from set_config('synchronous_commit', 'off', true), unnest($1::text[]) as changed (job_id),
                  lateral pg_notify('job_events', job_id)`,
    values: [jobIds],
  });
}
