import type { Pool } from 'pg';
import type { JobRow } from './jobs.ts';
import { jobColumns } from './job-statements.ts';
import { FailureType, failureOf } from '../workflows/contract/failures.ts';

export interface JobEndings {
  /** Ends the job's turn as cancelled and notes that its execution is to be cancelled; null when the job is not active. */
  cancel(jobId: string): Promise<JobRow | null>;
  /** Null when the job is neither completed nor failed. */
  archive(jobId: string): Promise<JobRow | null>;
  /** Archives jobs that ended before `idleDays` days and had no message since; answers how many. */
  archiveIdle(options: { idleDays: number; limit: number }): Promise<number>;
}

const cancelStatement = `
  with ended as (
    update jobs
    set status = 'failed', phase = null, failure_category = $2, message = $3, waiting_messages = 0, ended_at = now(),
        updated_at = now()
    where id = $1 and status = 'active'
    returning *
  ), ended_turn as (
    update job_turns set status = 'failed', ended_at = now() from ended
    where job_turns.job_id = ended.id and job_turns.turn = ended.turn
  ), unstarted as (
    delete from job_outbox using ended where job_outbox.job_id = ended.id and job_outbox.turn = ended.turn
  ), cancel as (
    insert into job_cancels (job_id, turn) select id, turn from ended
    on conflict (job_id, turn) do nothing
  )
  select ${jobColumns}
  from ended, append_job_events(
    ended.id, ended.turn, null, jsonb_build_array(jsonb_build_object('type', 'failure', 'data', $4::jsonb)), true
  )`;

/** The ends of a job that a person or the calendar decides, not its agent. */
export function createJobEndings(pool: Pool): JobEndings {
  return {
    async cancel(jobId) {
      const failure = failureOf(FailureType.Cancelled);
      const message = `${failure.title}.`;
      const told = JSON.stringify({ ...failure, message });
      const { rows } = await pool.query<JobRow>(cancelStatement, [jobId, failure.category, message, told]);
      return rows[0] ?? null;
    },

    async archive(jobId) {
      const { rows } = await pool.query<JobRow>(
        `update jobs set status = 'archived', archived_at = now(), updated_at = now()
         where id = $1 and status in ('completed', 'failed') returning ${jobColumns}`,
        [jobId],
      );
      return rows[0] ?? null;
    },

    async archiveIdle({ idleDays, limit }) {
      const { rowCount } = await pool.query(
        `update jobs set status = 'archived', archived_at = now(), updated_at = now()
         where id in (
           select id from jobs
           where status in ('completed', 'failed') and ended_at < now() - $1::float8 * interval '1 day'
           order by ended_at limit $2 for update skip locked
         )`,
        [idleDays, limit],
      );
      return rowCount ?? 0;
    },
  };
}
