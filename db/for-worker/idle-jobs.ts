import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';

export type IdleJobs = ReturnType<typeof createIdleJobs>;

export function createIdleJobs(pool: Pool) {
  return {
    /**
     * Returns active jobs without a recent write, ordered by id and starting after `after`; excludes jobs that have not
     * started yet, and those that wait for a person.
     */
    async list({ idleMs, after, limit }: { idleMs: number; after: string; limit: number }): Promise<TurnRef[]> {
      const { rows } = await pool.query<TurnRef>(
        `select id as "jobId", turn from jobs
         where status = 'active' and phase is distinct from 'waiting' and id > $2
           and updated_at < now() - $1 * interval '1 millisecond'
           and not exists (select from job_outbox where job_id = jobs.id and job_outbox.turn = jobs.turn)
         order by id limit $3`,
        [idleMs, after, limit],
      );
      return rows;
    },

    /** Returns which of these turns have ended, were deleted, or were succeeded by a newer turn. */
    async endedTurns(turns: TurnRef[]): Promise<TurnRef[]> {
      const { rows } = await pool.query<TurnRef>({
        name: 'ended-turns',
        text: `
          select asked.job_id as "jobId", asked.turn
          from unnest($1::text[], $2::integer[]) as asked (job_id, turn) left join jobs on jobs.id = asked.job_id
          where jobs.id is null or jobs.status <> 'active' or jobs.turn <> asked.turn
             or jobs.phase = 'waiting'`,
        values: [turns.map(({ jobId }) => jobId), turns.map(({ turn }) => turn)],
      });
      return rows;
    },

    /** Returns which of these jobs were deleted, or ended at least `forMs` ago. */
    async endedAmong(jobIds: string[], { forMs }: { forMs: number }): Promise<string[]> {
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
