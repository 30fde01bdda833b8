import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { isJobOf } from './job-statements.ts';

/**
 * `waiting`: the turn has ended, its history comes. `lost`: Temporal did not have it. `removed`: it was kept for as long as
 * it is to be kept.
 */
export interface HistoryExport {
  state: 'waiting' | 'exported' | 'lost' | 'removed';
  /** False when Temporal had lost earlier runs of the chain. */
  isWhole: boolean;
  runs: number;
}

export interface JobHistoryStore {
  /** Null while the turn has not ended, and for one that there never was. */
  find(owner: Owner, ref: TurnRef): Promise<HistoryExport | null>;
  /** The stored history of a run, counted from 1. */
  read(owner: Owner, ref: TurnRef & { run: number }): Promise<Buffer | null>;
}

/** What Temporal recorded about turns that have ended. */
export function createJobHistoryStore(pool: Pool): JobHistoryStore {
  return {
    async find({ organizationId }, { jobId, turn }) {
      const { rows } = await pool.query<HistoryExport>(
        `select state, is_whole as "isWhole",
                (select count(*) from job_histories where job_id = $1 and turn = $2)::integer as runs
         from job_history_exports where job_id = $1 and turn = $2 and ${isJobOf('$1', '$3')}`,
        [jobId, turn, organizationId],
      );
      return rows[0] ?? null;
    },

    async read({ organizationId }, { jobId, turn, run }) {
      const { rows } = await pool.query<{ history: Buffer }>(
        `select history from job_histories where job_id = $1 and turn = $2 and run = $3 and ${isJobOf('$1', '$4')}`,
        [jobId, turn, run, organizationId],
      );
      return rows[0]?.history ?? null;
    },
  };
}
