import type { Pool } from 'pg';

export interface OutboxEntry {
  jobId: string;
  turn: number;
}

export interface OutboxStore {
  /** Entries due now, locked away from other processes until `leaseMs` from now by moving their next attempt. */
  claimDue(options: { limit: number; leaseMs: number }): Promise<OutboxEntry[]>;
  /** The start is confirmed. */
  remove(entry: OutboxEntry): Promise<void>;
}

/** Starts that the engine has not confirmed yet. */
export function createOutboxStore(pool: Pool): OutboxStore {
  async function claimDue(options: { limit: number; leaseMs: number }): Promise<OutboxEntry[]> {
    const { rows } = await pool.query<OutboxEntry>({
      name: 'claim-due-starts',
      text: `
        with due as materialized (
          select job_id, turn from job_outbox
          where next_attempt_at <= now()
          order by next_attempt_at
          limit $1
          for update skip locked
        )
        update job_outbox
        set attempts = attempts + 1, next_attempt_at = now() + $2::float8 * interval '1 millisecond'
        from due
        where job_outbox.job_id = due.job_id and job_outbox.turn = due.turn
        returning job_outbox.job_id as "jobId", job_outbox.turn`,
      values: [options.limit, options.leaseMs],
    });
    return rows;
  }

  async function remove({ jobId, turn }: OutboxEntry): Promise<void> {
    await pool.query('delete from job_outbox where job_id = $1 and turn = $2', [jobId, turn]);
  }

  return { claimDue, remove };
}
