import type { Logger } from 'pino';
import type { DueEntry, OutboxStore } from '../../db/jobs/outbox.ts';
import type { IsDue } from '../../lib/due-poll.ts';
import type { StartJob } from './job-starter.ts';

export interface OutboxSweeperDeps {
  outbox: OutboxStore;
  startJob: StartJob;
  log: Logger;
  /** Reports at each tick whether an entry may be due. */
  isDue?: IsDue;
  /** Log message for an entry whose start failed. */
  failure?: string;
  intervalMs?: number;
  /** Lease of a claimed entry. It must exceed the timeout of a start. */
  leaseMs?: number;
}

const maxStarts = 50;

/**
 * Creates a sweeper that starts the outbox entries: new jobs at once, and those left over after a crash or while
 * Temporal was unreachable. An entry is removed only after its start is confirmed. A job is therefore started at least
 * once, which Temporal turns into exactly once.
 */
export function createOutboxSweeper({
  outbox,
  startJob,
  log,
  isDue = () => Promise.resolve(true),
  failure = 'job not started yet; retrying',
  intervalMs = 250,
  leaseMs = 5_000,
}: OutboxSweeperDeps) {
  const running = new Set<Promise<void>>();
  let isSweeping = false;
  let isWanted = false;
  let isStopped = false;
  let isFailing = false;

  async function start(entry: DueEntry): Promise<void> {
    try {
      await startJob(entry);
      await outbox.remove(entry);
      isFailing = false;
    } catch (error) {
      // log once per outage, not once per attempt
      if (!isFailing) log.warn({ err: error, jobId: entry.jobId, turn: entry.turn }, failure);
      isFailing = true;
    }
  }

  async function sweep(): Promise<void> {
    while (isWanted && running.size < maxStarts) {
      isWanted = false;
      const room = maxStarts - running.size;
      const entries = await outbox.claimDue({ limit: room, leaseMs });
      for (const entry of entries) {
        const started = start(entry).finally(() => running.delete(started));
        running.add(started);
      }
      if (entries.length === room && !isStopped) isWanted = true;
    }
  }

  /** Triggers a sweep now instead of at the next tick. It never waits and never throws. */
  function wake(): void {
    if (isStopped) return;
    isWanted = true;
    if (isSweeping) return;
    isSweeping = true;
    const swept = sweep()
      .catch((error: unknown) => {
        if (!isFailing) log.warn({ err: error }, 'outbox not read; retrying');
        isFailing = true;
      })
      .finally(() => {
        isSweeping = false;
        running.delete(swept);
        if (isWanted && running.size < maxStarts) wake(); // `wake` was called while the last query was ending
      });
    running.add(swept);
  }

  async function tick(): Promise<void> {
    // a failed look is logged by the sweep, which fails as well
    if (await isDue().catch(() => true)) wake();
  }

  const timer = setInterval(() => void tick(), intervalMs);
  timer.unref();

  return {
    wake,
    /** Stops the sweeper and waits for the starts in flight. */
    async [Symbol.asyncDispose](): Promise<void> {
      isStopped = true;
      isWanted = false;
      clearInterval(timer);
      // a sweep in progress adds the starts of what it has claimed
      while (running.size > 0) await Promise.all(running);
    },
  };
}
