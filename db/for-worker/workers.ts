import type { Pool } from 'pg';
import type { WorkerRow } from '../operations/operator-view.ts';

export type WorkerStore = ReturnType<typeof createWorkerStore>;

/** Stores the running worker processes. */
export function createWorkerStore(pool: Pool) {
  return {
    /** Reports that a worker process is alive. */
    async report({ id, host, pid, version, activeTasks, startedAt }: Omit<WorkerRow, 'seenAt'>): Promise<void> {
      await pool.query(
        `insert into workers (id, host, pid, version, active_tasks, started_at) values ($1, $2, $3, $4, $5, $6)
         on conflict (id) do update set active_tasks = excluded.active_tasks, seen_at = now()`,
        [id, host, pid, version, activeTasks, startedAt],
      );
    },

    /** Removes one that has ended, and those that have not reported for a day. */
    async remove(id: string): Promise<void> {
      await pool.query(`delete from workers where id = $1 or seen_at < now() - interval '1 day'`, [id]);
    },
  };
}
