import type { Pool } from 'pg';
import { type AuditedAction, writeAudit } from '../organizations/audit.ts';
import type { Caller } from '../caller.ts';
import type { JobRow } from './jobs.ts';
import { jobColumns } from './job-statements.ts';
import { wakeWatchers } from './wake-watchers.ts';
import { withTransaction } from '../pool.ts';
import { FailureType, failureOf } from '../../workflows/contract/failures.ts';

const cancelStatement = `
  with ended as (
    update jobs
    set status = 'failed', phase = null, failure_category = $2, message = $3, waiting_messages = 0, ended_at = now(),
        updated_at = now()
    where id = $1 and organization_id = $5 and status = 'active'
    returning *
  ), ended_turn as (
    update job_turns set status = 'failed', ended_at = now() from ended
    where job_turns.job_id = ended.id and job_turns.turn = ended.turn and job_turns.status = 'active'
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

const archiveStatement = `
  update jobs set status = 'archived', archived_at = now(), updated_at = now()
  where id = $1 and organization_id = $2 and status in ('completed', 'failed') returning ${jobColumns}`;

/** A job without its old parts cannot continue, so it stays archived. */
const unarchiveStatement = `
  update jobs set status = case when failure_category is null then 'completed' else 'failed' end, archived_at = null,
                  unarchived_at = now(), updated_at = now()
  where id = $1 and organization_id = $2 and status = 'archived'
    and records_removed_at is null and transcript_removed_at is null
  returning ${jobColumns}`;

export type JobEndings = ReturnType<typeof createJobEndings>;

/** Creates the store of endings that a person requests. */
export function createJobEndings(pool: Pool) {
  async function end(
    caller: Caller,
    statement: string,
    values: unknown[],
    entryOf: (job: JobRow) => AuditedAction,
  ): Promise<JobRow | null> {
    const ended = await withTransaction(pool, async (client) => {
      const { rows } = await client.query<JobRow>(statement, values);
      const [job] = rows;
      if (job !== undefined) await writeAudit(client, caller, entryOf(job));
      return job ?? null;
    });
    if (ended !== null) wakeWatchers(pool, ended.id);
    return ended;
  }

  return {
    /**
     * Ends the job's turn as cancelled and records that its execution is to be cancelled; null when the job is not
     * active.
     */
    cancel(caller: Caller, jobId: string): Promise<JobRow | null> {
      const failure = failureOf(FailureType.Cancelled);
      const message = `${failure.title}.`;
      const events = JSON.stringify({ ...failure, message });
      const values = [jobId, failure.category, message, events, caller.organizationId];
      return end(caller, cancelStatement, values, ({ id, turn }) => ({
        action: 'job.cancel',
        subject: id,
        details: { turn },
      }));
    },

    /** Null when the job is neither completed nor failed. */
    archive(caller: Caller, jobId: string): Promise<JobRow | null> {
      const values = [jobId, caller.organizationId];
      return end(caller, archiveStatement, values, ({ id }) => ({ action: 'job.archive', subject: id }));
    },

    /** Undoes an archive. Null when the job is not archived, or when a part of it has been removed since. */
    unarchive(caller: Caller, jobId: string): Promise<JobRow | null> {
      const values = [jobId, caller.organizationId];
      return end(caller, unarchiveStatement, values, ({ id }) => ({ action: 'job.unarchive', subject: id }));
    },
  };
}
