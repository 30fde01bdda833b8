import type { Pool } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';

export interface DueEntry extends TurnRef {
  /** Empty when the job was deleted; its cancellation outlives it. */
  organizationId: string;
}

export interface OutboxStore {
  /** Claims due entries for `leaseMs` by postponing their next attempt. */
  claimDue(options: { limit: number; leaseMs: number }): Promise<DueEntry[]>;
  /** Confirms the start. */
  remove(entry: TurnRef): Promise<void>;
}

/** Creates the outbox of starts that Temporal has not confirmed yet. */
export function createOutboxStore(pool: Pool): OutboxStore {
  return createQueueStore(pool, 'job_outbox');
}

/** Creates the outbox of cancellations that Temporal has not confirmed yet. */
export function createCancelStore(pool: Pool): OutboxStore {
  return createQueueStore(pool, 'job_cancels');
}

function createQueueStore(pool: Pool, table: 'job_outbox' | 'job_cancels'): OutboxStore {
  async function claimDue(options: { limit: number; leaseMs: number }): Promise<DueEntry[]> {
    const { rows } = await pool.query<DueEntry>({
      name: `claim-due-${table}`,
      text: `
        with due as materialized (
          select job_id, turn from ${table}
          where next_attempt_at <= now()
          order by next_attempt_at
          limit $1
          for update skip locked
        )
        update ${table}
        set attempts = attempts + 1, next_attempt_at = now() + $2::float8 * interval '1 millisecond'
        from due left join jobs on jobs.id = due.job_id
        where ${table}.job_id = due.job_id and ${table}.turn = due.turn
        returning ${table}.job_id as "jobId", ${table}.turn, coalesce(jobs.organization_id, '') as "organizationId"`,
      values: [options.limit, options.leaseMs],
    });
    return rows;
  }

  async function remove({ jobId, turn }: TurnRef): Promise<void> {
    await pool.query(`delete from ${table} where job_id = $1 and turn = $2`, [jobId, turn]);
  }

  return { claimDue, remove };
}
