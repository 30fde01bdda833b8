import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { isJobOf } from './job-statements.ts';

/**
 * `waiting`: the turn has ended, and its history is not exported yet. `lost`: Temporal did not have it. `removed`: its
 * retention has ended.
 */
export interface HistoryExport {
  state: 'waiting' | 'exported' | 'lost' | 'removed';
  /** False when Temporal had lost earlier runs of the chain. */
  isWhole: boolean;
  runs: number;
}

export type JobHistoryStore = ReturnType<typeof createJobHistoryStore>;

/** Creates the store of Temporal's histories of ended turns. */
export function createJobHistoryStore(pool: Pool) {
  return {
    /** Null while the turn has not ended, and for a turn that does not exist. */
    async find({ organizationId }: Owner, { jobId, turn }: TurnRef): Promise<HistoryExport | null> {
      const { rows } = await pool.query<HistoryExport>(
        `select state, is_whole as "isWhole",
                (select count(*) from job_histories where job_id = $1 and turn = $2)::integer as runs
         from job_history_exports where job_id = $1 and turn = $2 and ${isJobOf('$1', '$3')}`,
        [jobId, turn, organizationId],
      );
      return rows[0] ?? null;
    },

    /** Returns the stored history of a run, counted from 1. */
    async read({ organizationId }: Owner, ref: TurnRef & { run: number }): Promise<Buffer | null> {
      const { jobId, turn, run } = ref;
      const { rows } = await pool.query<{ history: Buffer }>(
        `select history from job_histories where job_id = $1 and turn = $2 and run = $3 and ${isJobOf('$1', '$4')}`,
        [jobId, turn, run, organizationId],
      );
      return rows[0]?.history ?? null;
    },
  };
}
