import type { Pool } from 'pg';
import { remember } from '../../lib/remember.ts';
import type { Owner } from '../caller.ts';
import type { JobEventWakeups } from './job-event-wakeups.ts';
import type { JobRow, JobStore } from './jobs.ts';
import { onOwnChange } from './wake-watchers.ts';

interface PolledJob {
  row: Readonly<JobRow> | null;
  /** Time at which the row was requested. */
  readAt: number;
  isPolled: boolean;
}

const maxRows = 1_000;
const maxMs = 2_000;

/**
 * Creates the cache of the jobs that clients poll: even the cheapest SQL statement would cost more than the rest of a poll.
 * A row may be stale until its notification arrives, for at most 2 seconds.
 */
export function createPolledJobs(deps: {
  pool: Pool;
  find: JobStore['find'];
  wakeups: Pick<JobEventWakeups, 'onAnyChange'>;
}) {
  const jobs = new Map<string, PolledJob>();
  let isSubscribed = false;
  let turn: Promise<void> | null = null;

  /** Only once a client polls, because it opens a connection. */
  function subscribe(): void {
    isSubscribed = true;
    deps.wakeups.onAnyChange((id) => void (id === null ? jobs.clear() : jobs.delete(id)));
    onOwnChange(deps.pool, (id) => void jobs.delete(id));
  }

  async function read(job: PolledJob, ...[owner, projectId, id]: Parameters<JobStore['find']>) {
    const readAt = performance.now();
    const row = await deps.find(owner, projectId, id);
    // no longer in the map if it changed in the meantime
    Object.assign(job, { row, readAt });
    return row;
  }

  /** Answers that are written in one turn of the event loop cost less. */
  function endOfTurn(): Promise<void> {
    turn ??= new Promise((resolve) => {
      setImmediate(() => {
        turn = null;
        resolve();
      });
    });
    return turn;
  }

  return {
    async find(owner: Owner, projectId: string, id: string): Promise<Readonly<JobRow> | null> {
      if (!isSubscribed) subscribe();
      const known = jobs.get(id);
      const row = known?.row ?? null;
      const isOurs = row?.organizationId === owner.organizationId && row.projectId === projectId;
      if (known !== undefined && isOurs && performance.now() - known.readAt < maxMs) {
        known.isPolled = true;
        await endOfTurn();
        return row;
      }
      const job = { row: null, readAt: 0, isPolled: true };
      remember(jobs, id, job, maxRows);
      return read(job, owner, projectId, id);
    },
    /** Reads again the rows that were polled since the last call, because a notification can be lost. Call it each second. */
    async check(): Promise<void> {
      const polled = [...jobs].filter(([, { isPolled }]) => isPolled);
      await Promise.all(
        polled.map(([id, job]) => {
          job.isPolled = false;
          return job.row === null ? null : read(job, job.row, job.row.projectId, id);
        }),
      );
    },
  };
}
