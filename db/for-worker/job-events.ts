import type { Pool } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson } from '../stored-text.ts';

/** A chunk of a step's text while the model produces it. */
export interface TextChunk extends StepRef {
  /** Identifies the attempt; a superseded one appends nothing. */
  fence: number;
  offset: number;
  text: string;
  /** Set when it may have been appended before; it is then looked up first. */
  isRepeated: boolean;
}

export interface WorkerEventStore {
  /** Returns false when the attempt was superseded, the step has an answer, or the turn has ended. */
  appendText(chunk: TextChunk): Promise<boolean>;
}

/** Stores a step's text in the log of job events while it streams. */
export function createWorkerEventStore(pool: Pool): WorkerEventStore {
  /** Locks the step against the next attempt, so that no text follows that attempt's `step-start`. */
  async function appendText({ jobId, turn, step, fence, offset, text, isRepeated }: TextChunk): Promise<boolean> {
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
    const isOurs = rows[0]?.isOurs ?? false;
    if (isOurs) wakeWatchers(pool, jobId);
    return isOurs;
  }

  return { appendText };
}
