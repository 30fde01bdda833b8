import type { Pool } from 'pg';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';

/** Message by who was waited for. */
const expired = {
  approval: 'The plan was neither approved nor rejected before its deadline.',
  answer: "The agent's question was not answered before its deadline. A follow-up message continues from there.",
};

const endWaitsStatement = `
  with ended as (
    update jobs
    set status = 'failed', phase = null, failure_category = $1, ended_at = now(), updated_at = now(),
        message = case when question is null then $2 else $3 end
    where id in (
      select id from jobs where status = 'active' and phase = 'waiting' and wait_until <= now()
      order by wait_until limit $5 for update skip locked
    )
    returning id, turn, message
  )
  select id, append_job_events(id, turn, null, ends => true, events => jsonb_build_array(jsonb_build_object(
    'type', 'failure', 'data', $4::jsonb || jsonb_build_object('message', message)
  ))) from ended`;

export type IdleEndings = ReturnType<typeof createIdleEndings>;

/** Ends jobs by age. */
export function createIdleEndings(pool: Pool) {
  return {
    /** Archives jobs that ended more than `idleDays` days ago without a message since; returns how many. */
    async archiveIdle({ idleDays, limit }: { idleDays: number; limit: number }): Promise<number> {
      const { rowCount } = await pool.query(
        `update jobs set status = 'archived', archived_at = now(), updated_at = now()
         where id in (
           select id from jobs
           where status in ('completed', 'failed') and ended_at < now() - $1::float8 * interval '1 day'
             and (unarchived_at is null or unarchived_at < now() - $1::float8 * interval '1 day')
           order by ended_at limit $2 for update skip locked
         )`,
        [idleDays, limit],
      );
      return rowCount ?? 0;
    },

    /** Fails jobs whose deadline for a person has passed; returns how many. */
    async endWaits({ limit }: { limit: number }): Promise<number> {
      const failure = failureOf(FailureType.WaitExpired);
      const { rows } = await pool.query<{ id: string }>({
        name: 'end-waits',
        text: endWaitsStatement,
        values: [failure.category, expired.approval, expired.answer, JSON.stringify(failure), limit],
      });
      for (const { id } of rows) wakeWatchers(pool, id);
      return rows.length;
    },
  };
}
