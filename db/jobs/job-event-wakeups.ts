import type { Pool } from 'pg';
import { createListener } from '../listener.ts';

export interface JobEventWakeupDeps {
  url: string;
  pool: Pool;
  /** Interval of the database poll that finds missed notifications. */
  pollMs?: number;
  applicationName?: string;
  /** Called once for a connection that broke or could not be opened; each poll tries again. */
  onConnectionLost?: (error: unknown) => void;
}

/** Reports changes of jobs to the watchers of a process. */
export type JobEventWakeups = ReturnType<typeof createJobEventWakeups>;

/**
 * Creates the wake-ups: one listening connection for all watchers, opened with the first one. While it is down, and for
 * lost notifications, one query every `pollMs` covers all watched jobs.
 */
export function createJobEventWakeups(deps: JobEventWakeupDeps) {
  const { pool, pollMs = 1_000 } = deps;
  const watched = new Map<string, Set<() => void>>();
  const all = new Set<(jobId: string | null) => void>();
  const seen = new Map<string, number | null>();
  let isPolling = false;

  function ring(jobId: string): void {
    for (const wake of watched.get(jobId) ?? []) wake();
    for (const wake of all) wake(jobId);
  }

  const listener = createListener({
    url: deps.url,
    channel: 'job_events',
    applicationName: deps.applicationName ?? 'docket-events',
    onNotice: ring,
    onOpen() {
      for (const jobId of watched.keys()) ring(jobId);
      for (const wake of all) wake(null);
    },
    onConnectionLost(error) {
      for (const wake of all) wake(null);
      deps.onConnectionLost?.(error);
    },
  });

  async function poll(): Promise<void> {
    if (watched.size > 0 || all.size > 0) void listener.open();
    if (watched.size === 0 || isPolling) return;
    isPolling = true;
    try {
      const jobIds = [...watched.keys()];
      const lastSeqs = await readLastSeqs(pool, jobIds);
      for (const jobId of jobIds) {
        const lastSeq = lastSeqs.get(jobId) ?? null;
        if (seen.get(jobId) === lastSeq) continue;
        if (watched.has(jobId)) seen.set(jobId, lastSeq);
        ring(jobId);
      }
    } catch {
      // a watcher's own read meets the same failure and reports it
    } finally {
      isPolling = false;
    }
  }

  const timer = setInterval(() => void poll(), pollMs);
  timer.unref();

  return {
    /** Calls back after each change of a job, until disposed of. A job that was deleted has changed, too. */
    onChange(jobId: string, changed: () => void): Disposable {
      const callbacks = watched.get(jobId) ?? new Set();
      watched.set(jobId, callbacks.add(changed));
      void listener.open();
      return {
        [Symbol.dispose]() {
          callbacks.delete(changed);
          if (callbacks.size > 0 || watched.get(jobId) !== callbacks) return;
          watched.delete(jobId);
          seen.delete(jobId);
        },
      };
    },
    /** Calls back with the job's id after each change of any job, and with null when changes may have been missed. */
    onAnyChange(changed: (jobId: string | null) => void): Disposable {
      all.add(changed);
      void listener.open();
      return { [Symbol.dispose]: () => void all.delete(changed) };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      watched.clear();
      all.clear();
      await listener[Symbol.asyncDispose]();
    },
  };
}

/** Reads the newest event numbers of jobs, for missed notifications. */
async function readLastSeqs(pool: Pool, jobIds: string[]): Promise<Map<string, number>> {
  const { rows } = await pool.query<{ jobId: string; lastSeq: number }>({
    name: 'last-job-events',
    text: `
      select job_id as "jobId", last_seq::float8 as "lastSeq" from job_event_logs where job_id = any($1::text[])`,
    values: [jobIds],
  });
  return new Map(rows.map(({ jobId, lastSeq }) => [jobId, lastSeq]));
}

/** Wakes one watcher. */
export type JobEventBell = ReturnType<typeof createJobEventBell>;

/** Creates a bell that remembers a ring between two waits, so that nothing is missed. */
export function createJobEventBell() {
  let hasRung = false;
  let wake: (() => void) | null = null;
  return {
    ring(): void {
      hasRung = true;
      wake?.();
    },
    /** Resolves once it rang since the last call, after `withinMs`, or when the signal aborts. */
    async next({ withinMs, signal }: { withinMs?: number; signal: AbortSignal }): Promise<void> {
      if (!hasRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = withinMs === undefined ? undefined : setTimeout(resolve, withinMs);
        const onAbort = () => resolve();
        signal.addEventListener('abort', onAbort);
        await promise;
        signal.removeEventListener('abort', onAbort);
        clearTimeout(timer);
        wake = null;
      }
      hasRung = false;
    },
  };
}
