import { Client, type Pool } from 'pg';

export interface JobEventWakeupDeps {
  url: string;
  pool: Pool;
  /** How often the database is polled for what the connection may have missed. */
  pollMs?: number;
  applicationName?: string;
  /** Called once for a connection that broke or could not be made; each poll tries again. */
  onConnectionLost?: (error: unknown) => void;
}

/** One watcher's bell. */
export interface JobEventBell extends Disposable {
  /** Resolves once something was appended since the last call, after `withinMs`, or when the signal aborts. */
  next(options: { withinMs: number; signal: AbortSignal }): Promise<void>;
}

/** Wakes the watchers of a process when their jobs change. */
export interface JobEventWakeups extends AsyncDisposable {
  subscribe(jobId: string): JobEventBell;
  /** Rings for any job. */
  subscribeAll(): JobEventBell;
}

/**
 * One listening connection for all watchers, made with the first one. While it is down, and for notices that were lost,
 * one query a `pollMs` asks for all watched jobs together.
 */
export function createJobEventWakeups(deps: JobEventWakeupDeps): JobEventWakeups {
  const { pool, pollMs = 1_000 } = deps;
  const watched = new Map<string, Set<() => void>>();
  const all = new Set<() => void>();
  const seen = new Map<string, number>();
  let connection: Client | null = null;
  let isPolling = false;
  let isUp = true;

  function ring(jobId: string): void {
    for (const wake of watched.get(jobId) ?? []) wake();
    for (const wake of all) wake();
  }

  async function listen(): Promise<void> {
    if (connection !== null) return;
    const client = new Client({
      connectionString: deps.url,
      application_name: deps.applicationName ?? 'docket-events',
      connectionTimeoutMillis: 2_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
    });
    connection = client;
    client.on('notification', ({ payload = '' }) => ring(payload));
    client.on('error', drop);
    client.on('end', () => drop(null));
    try {
      await client.connect();
      await client.query('listen job_events');
      isUp = true;
      for (const jobId of watched.keys()) ring(jobId);
      for (const wake of all) wake();
    } catch (error) {
      drop(error);
    }

    function drop(error: unknown): void {
      if (connection !== client) return;
      connection = null;
      if (isUp) deps.onConnectionLost?.(error);
      isUp = false;
      void closed(client);
    }
  }

  async function poll(): Promise<void> {
    if ((watched.size === 0 && all.size === 0) || isPolling) return;
    isPolling = true;
    void listen();
    try {
      for (const { jobId, lastSeq } of await readLastSeqs(pool, [...watched.keys()])) {
        if (seen.get(jobId) === lastSeq) continue;
        if (watched.has(jobId)) seen.set(jobId, lastSeq);
        ring(jobId);
      }
    } catch {
      // a watcher that reads meets the same trouble, and says so
    } finally {
      isPolling = false;
    }
  }

  const timer = setInterval(() => void poll(), pollMs);
  timer.unref();

  return {
    subscribe(jobId) {
      const bell = createBell();
      const bells = watched.get(jobId) ?? new Set();
      watched.set(jobId, bells.add(bell.ring));
      void listen();
      return {
        next: bell.next,
        [Symbol.dispose]() {
          bells.delete(bell.ring);
          if (bells.size > 0 || watched.get(jobId) !== bells) return;
          watched.delete(jobId);
          seen.delete(jobId);
        },
      };
    },
    subscribeAll() {
      const bell = createBell();
      all.add(bell.ring);
      void listen();
      return { next: bell.next, [Symbol.dispose]: () => void all.delete(bell.ring) };
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      watched.clear();
      all.clear();
      const client = connection;
      connection = null;
      if (client !== null) await closed(client);
    },
  };
}

/** The newest numbers of jobs, for whoever missed a notice. */
async function readLastSeqs(pool: Pool, jobIds: string[]): Promise<{ jobId: string; lastSeq: number }[]> {
  const { rows } = await pool.query<{ jobId: string; lastSeq: number }>({
    name: 'last-job-events',
    text: `
      select job_id as "jobId", last_seq::float8 as "lastSeq" from job_event_logs where job_id = any($1::text[])`,
    values: [jobIds],
  });
  return rows;
}

async function closed(client: Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** Remembers a ring that nobody waits for: what is appended between two waits is not missed. */
function createBell(): { ring(): void; next: JobEventBell['next'] } {
  let hasRung = false;
  let wake: (() => void) | null = null;
  return {
    ring() {
      hasRung = true;
      wake?.();
    },
    async next({ withinMs, signal }) {
      if (!hasRung && !signal.aborted) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(resolve, withinMs);
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
