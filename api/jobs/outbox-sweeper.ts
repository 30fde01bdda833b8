import type { Logger } from 'pino';
import type { DueEntry, OutboxStore } from '../../db/jobs/outbox.ts';
import type { StartJob } from './job-starter.ts';

export interface OutboxSweeper {
  /** Looks now rather than at the next tick. Never waits and never throws. */
  wake(): void;
  /** Ends after the starts that are under way. */
  [Symbol.asyncDispose](): Promise<void>;
}

export interface OutboxSweeperDeps {
  outbox: OutboxStore;
  startJob: StartJob;
  log: Logger;
  /** What the log says of an entry that has to wait. */
  failure?: string;
  intervalMs?: number;
  /** How long a claimed entry is left to this process; longer than a start may take. */
  leaseMs?: number;
}

const mostStarts = 50;

/**
 * Starts what the outbox holds: new jobs at once, and what a crash or an unreachable Temporal left behind. An entry goes
 * only after its start is confirmed, so a job is started at least once; Temporal makes it exactly once.
 */
export function createOutboxSweeper({
  outbox,
  startJob,
  log,
  failure = 'job not started yet; it is tried again',
  intervalMs = 1_000,
  leaseMs = 5_000,
}: OutboxSweeperDeps): OutboxSweeper {
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
      // one line for an outage, not one for each try
      if (!isFailing) log.warn({ err: error, jobId: entry.jobId, turn: entry.turn }, failure);
      isFailing = true;
    }
  }

  async function sweep(): Promise<void> {
    while (isWanted && running.size < mostStarts) {
      isWanted = false;
      const room = mostStarts - running.size;
      const entries = await outbox.claimDue({ limit: room, leaseMs });
      for (const entry of entries) {
        const started = start(entry).finally(() => running.delete(started));
        running.add(started);
      }
      if (entries.length === room && !isStopped) isWanted = true;
    }
  }

  function wake(): void {
    if (isStopped) return;
    isWanted = true;
    if (isSweeping) return;
    isSweeping = true;
    const swept = sweep()
      .catch((error: unknown) => {
        if (!isFailing) log.warn({ err: error }, 'outbox not read; it is tried again');
        isFailing = true;
      })
      .finally(() => {
        isSweeping = false;
        running.delete(swept);
        if (isWanted && running.size < mostStarts) wake(); // somebody called while the last query was ending
      });
    running.add(swept);
  }

  const timer = setInterval(wake, intervalMs);
  timer.unref();

  return {
    wake,
    async [Symbol.asyncDispose]() {
      isStopped = true;
      isWanted = false;
      clearInterval(timer);
      await Promise.all(running);
    },
  };
}
