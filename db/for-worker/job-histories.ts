import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { withTransaction } from '../pool.ts';

/** One run of a turn's execution. */
export interface HistoryRun {
  runId: string;
  /** In the format of `packHistory`. */
  history: Buffer;
  eventCount: number;
  /** Temporal's names for the workflow code that ran. */
  buildIds: string[];
}

export interface DueExport extends TurnRef {
  /** Number of tries, including this one. */
  attempts: number;
  /** Time since the turn ended. */
  endedMsAgo: number;
}

export type WorkerHistoryStore = ReturnType<typeof createWorkerHistoryStore>;

/** Stores Temporal's histories of ended turns while they are exported. */
export function createWorkerHistoryStore(pool: Pool) {
  return {
    /** Claims exports that are due, for `leaseMs`. */
    async claimDue({ limit, leaseMs }: { limit: number; leaseMs: number }): Promise<DueExport[]> {
      const { rows } = await pool.query<DueExport>({
        name: 'claim-due-exports',
        text: `
          with due as materialized (
            select job_id, turn from job_history_exports
            where state = 'waiting' and next_attempt_at <= now()
            order by next_attempt_at limit $1 for update skip locked
          )
          update job_history_exports as exports
          set attempts = attempts + 1, next_attempt_at = now() + $2::float8 * interval '1 millisecond'
          from due where exports.job_id = due.job_id and exports.turn = due.turn
          returning exports.job_id as "jobId", exports.turn, attempts,
                    (extract(epoch from now() - ended_at) * 1000)::float8 as "endedMsAgo"`,
        values: [limit, leaseMs],
      });
      return rows;
    },

    /** Returns a claimed export, to be tried again after `waitMs`. */
    async postpone({ jobId, turn, waitMs }: TurnRef & { waitMs: number }): Promise<void> {
      await pool.query(
        `update job_history_exports set next_attempt_at = now() + $3::float8 * interval '1 millisecond'
         where job_id = $1 and turn = $2 and state = 'waiting'`,
        [jobId, turn, waitMs],
      );
    },

    /** Stores histories in one transaction; existing ones stay. `runs` is in the order of the chain. */
    async store(ref: TurnRef & { runs: HistoryRun[]; isWhole: boolean }): Promise<void> {
      const { jobId, turn, runs, isWhole } = ref;
      await withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `update job_history_exports set state = 'exported', is_whole = $3
           where job_id = $1 and turn = $2 and state = 'waiting'`,
          [jobId, turn, isWhole],
        );
        if (rowCount !== 1) return;
        for (const [index, { runId, history, eventCount, buildIds }] of runs.entries()) {
          await client.query(
            `insert into job_histories (job_id, turn, run, run_id, history, event_count, build_ids)
             values ($1, $2, $3, $4, $5, $6, $7)`,
            [jobId, turn, index + 1, runId, history, eventCount, buildIds],
          );
        }
      });
    },

    async markLost({ jobId, turn }: TurnRef): Promise<void> {
      await pool.query(
        `update job_history_exports set state = 'lost' where job_id = $1 and turn = $2 and state = 'waiting'`,
        [jobId, turn],
      );
    },

    /** Removes events and histories of jobs that were archived more than `days` days ago; returns of how many jobs. */
    async removeOld({ days, limit }: { days: number; limit: number }): Promise<number> {
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `update jobs set records_removed_at = now()
           where id in (
             select id from jobs
             where status = 'archived' and records_removed_at is null
               and archived_at < now() - $1::float8 * interval '1 day'
             order by archived_at limit $2 for update skip locked
           )
           returning id`,
          [days, limit],
        );
        const ids = rows.map(({ id }) => id);
        if (ids.length === 0) return 0;
        await client.query('delete from job_events where job_id = any($1::text[])', [ids]);
        await client.query('delete from job_histories where job_id = any($1::text[])', [ids]);
        await client.query(`update job_history_exports set state = 'removed' where job_id = any($1::text[])`, [ids]);
        return ids.length;
      });
    },
  };
}
