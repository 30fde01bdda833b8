import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import type { JobStatus } from '../../workflows/contract/job.ts';
import type { JobEventType } from './event-types.ts';

export interface JobEventRow {
  /** Counts from 1 within the job. Numbers of removed output are missing. */
  seq: number;
  turn: number;
  step: number | null;
  type: JobEventType;
  data: Record<string, unknown>;
  createdAt: Date;
}

interface JobEventPage {
  events: JobEventRow[];
  /**
   * Status at the time of the page: an inactive job with an empty page has no more events. Null when there is no such
   * job.
   */
  status: JobStatus | null;
}

export type JobEventStore = ReturnType<typeof createJobEventStore>;

/**
 * Creates the store of the log of job events. Everything but text is appended by the statement that stores the fact.
 */
export function createJobEventStore(pool: Pool) {
  /** Returns the events after `after`, in order. One statement, so that status and events are consistent. */
  async function read(
    { organizationId }: Owner,
    jobId: string,
    { after, limit }: { after: number; limit: number },
  ): Promise<JobEventPage> {
    const { rows } = await pool.query<{ status: JobStatus; events: JobEventRow | null } & JobEventRow>({
      name: 'read-job-events',
      text: `
        select jobs.status, events.seq::float8 as seq, events.turn, events.step, events.type, events.data,
               events.created_at as "createdAt"
        from jobs
        left join lateral (
          select * from job_events where job_id = jobs.id and seq > $2 order by seq limit $3
        ) as events on true
        where jobs.id = $1 and jobs.organization_id = $4
        order by events.seq`,
      values: [jobId, after, limit, organizationId],
    });
    const events = rows.filter(({ seq }) => seq !== null).map(withoutStatus);
    return { events, status: rows[0]?.status ?? null };
  }

  return { read };
}

function withoutStatus({ seq, turn, step, type, data, createdAt }: JobEventRow): JobEventRow {
  return { seq, turn, step, type, data, createdAt };
}
