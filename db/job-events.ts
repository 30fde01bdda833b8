import type { Pool } from 'pg';
import type { JobStatus, StepRef } from '../workflows/contract/job.ts';
import type { JobEventType } from '../workflows/contract/job-events.ts';
import { toStoredJson } from './stored-text.ts';

export interface JobEventRow {
  /** Counts from 1 within the job, without gaps. */
  seq: number;
  turn: number;
  step: number | null;
  type: JobEventType;
  data: Record<string, unknown>;
  createdAt: Date;
}

/** A piece of the text of a step that the model has not finished yet. */
export interface TextPiece extends StepRef {
  /** Names the attempt: an older one appends nothing. */
  fence: number;
  offset: number;
  text: string;
  /** Set when it may have been appended before: then it is looked for first. */
  isRepeated: boolean;
}

export interface JobEventPage {
  events: JobEventRow[];
  /** As of the page: what is not active and has a page without events has said everything. Null: there is no such job. */
  status: JobStatus | null;
}

export interface JobEventStore {
  /** False when the attempt was overtaken, the step answered, or the turn ended. */
  appendText(piece: TextPiece): Promise<boolean>;
  /** The events behind `after`, in order. One statement, so that status and events are of the same moment. */
  read(jobId: string, page: { after: number; limit: number }): Promise<JobEventPage>;
  /** The newest numbers of jobs, for whoever missed a wake-up. */
  lastSeqs(jobIds: string[]): Promise<{ jobId: string; lastSeq: number }[]>;
}

/** The log of what happened to jobs. Everything but text is appended by the statement that writes the fact. */
export function createJobEventStore(pool: Pool): JobEventStore {
  /** Locks the step against the next attempt, so that no text comes behind that one's `step-start`. */
  async function appendText({ jobId, turn, step, fence, offset, text, isRepeated }: TextPiece): Promise<boolean> {
    const data = { attempt: fence, offset, text };
    const { rows } = await pool.query<{ isOurs: boolean }>({
      name: 'append-text',
      text: `
        with ours as materialized (
          select job_id from job_steps
          where job_id = $1 and turn = $2 and step = $3 and fence = $4 and response is null
          for share
        ), repeated as materialized (
          select 1 from job_events
          where $6 and job_id = $1 and turn = $2 and step = $3 and type = 'text' and data @> $7::jsonb
        )
        select case when exists (select from repeated) then true
                    else append_job_events(job_id, $2, $3, $5) is not null end as "isOurs"
        from ours`,
      values: [
        jobId,
        turn,
        step,
        fence,
        toStoredJson([{ type: 'text', data }]),
        isRepeated,
        JSON.stringify({ attempt: fence, offset }),
      ],
    });
    return rows[0]?.isOurs ?? false;
  }

  async function read(jobId: string, { after, limit }: { after: number; limit: number }): Promise<JobEventPage> {
    const { rows } = await pool.query<{ status: JobStatus; events: JobEventRow | null } & JobEventRow>({
      name: 'read-job-events',
      text: `
        select jobs.status, events.seq::float8 as seq, events.turn, events.step, events.type, events.data,
               events.created_at as "createdAt"
        from jobs
        left join lateral (
          select * from job_events where job_id = jobs.id and seq > $2 order by seq limit $3
        ) as events on true
        where jobs.id = $1
        order by events.seq`,
      values: [jobId, after, limit],
    });
    const events = rows.filter(({ seq }) => seq !== null).map(withoutStatus);
    return { events, status: rows[0]?.status ?? null };
  }

  async function lastSeqs(jobIds: string[]): Promise<{ jobId: string; lastSeq: number }[]> {
    const { rows } = await pool.query<{ jobId: string; lastSeq: number }>({
      name: 'last-job-events',
      text: `
        select job_id as "jobId", last_seq::float8 as "lastSeq" from job_event_logs where job_id = any($1::text[])`,
      values: [jobIds],
    });
    return rows;
  }

  return { appendText, read, lastSeqs };
}

function withoutStatus({ seq, turn, step, type, data, createdAt }: JobEventRow): JobEventRow {
  return { seq, turn, step, type, data, createdAt };
}
