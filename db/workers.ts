import type { Pool } from 'pg';

export interface WorkerRow {
  id: string;
  host: string;
  pid: number;
  /** The build, or that of the package. */
  version: string;
  activeTasks: number;
  startedAt: Date;
  seenAt: Date;
}

export interface WorkerStore {
  /** Says that a worker process is there. */
  report(worker: Omit<WorkerRow, 'seenAt'>): Promise<void>;
  /** Forgets one that has ended, and those that were not heard of for a day. */
  remove(id: string): Promise<void>;
  /** Those heard of in the last minutes, oldest first. */
  list(options: { withinMinutes: number }): Promise<WorkerRow[]>;
}

/** Worker processes that are there, whichever way they are run. */
export function createWorkerStore(pool: Pool): WorkerStore {
  return {
    async report({ id, host, pid, version, activeTasks, startedAt }) {
      await pool.query(
        `insert into workers (id, host, pid, version, active_tasks, started_at) values ($1, $2, $3, $4, $5, $6)
         on conflict (id) do update set active_tasks = excluded.active_tasks, seen_at = now()`,
        [id, host, pid, version, activeTasks, startedAt],
      );
    },

    async remove(id) {
      await pool.query(`delete from workers where id = $1 or seen_at < now() - interval '1 day'`, [id]);
    },

    async list({ withinMinutes }) {
      const { rows } = await pool.query<WorkerRow>(
        `select id, host, pid, version, active_tasks as "activeTasks", started_at as "startedAt", seen_at as "seenAt"
         from workers where seen_at > now() - $1::float8 * interval '1 minute' order by started_at, id`,
        [withinMinutes],
      );
      return rows;
    },
  };
}
