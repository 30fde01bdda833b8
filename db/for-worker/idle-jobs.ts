import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';

export interface IdleJobs {
  /** Active jobs that nothing wrote to for a while, longest first; without those whose start is still to come. */
  list(options: { idleMs: number; limit: number }): Promise<TurnRef[]>;
  /** Which of these turns have ended, were deleted, or are not the newest of their job any more. */
  endedTurns(turns: TurnRef[]): Promise<TurnRef[]>;
  /** Which of these jobs were deleted, or have ended at least `forMs` ago. */
  endedAmong(jobIds: string[], options: { forMs: number }): Promise<string[]>;
}

export function createIdleJobs(pool: Pool): IdleJobs {
  return {
    async list({ idleMs, limit }) {
      const { rows } = await pool.query<TurnRef>(
        `select id as "jobId", turn from jobs
         where status = 'active' and updated_at < now() - $1 * interval '1 millisecond'
           and not exists (select from job_outbox where job_id = jobs.id and job_outbox.turn = jobs.turn)
         order by updated_at limit $2`,
        [idleMs, limit],
      );
      return rows;
    },

    async endedTurns(turns) {
      const { rows } = await pool.query<TurnRef>(
        `select asked.job_id as "jobId", asked.turn
         from unnest($1::text[], $2::integer[]) as asked (job_id, turn) left join jobs on jobs.id = asked.job_id
         where jobs.id is null or jobs.status <> 'active' or jobs.turn <> asked.turn`,
        [turns.map(({ jobId }) => jobId), turns.map(({ turn }) => turn)],
      );
      return rows;
    },

    async endedAmong(jobIds, { forMs }) {
      if (jobIds.length === 0) return [];
      const { rows } = await pool.query<{ id: string }>(
        `select asked.id from unnest($1::text[]) as asked (id) left join jobs on jobs.id = asked.id
         where jobs.id is null or (status <> 'active' and ended_at < now() - $2 * interval '1 millisecond')`,
        [jobIds, forMs],
      );
      return rows.map(({ id }) => id);
    },
  };
}
