import type { Pool } from 'pg';
import type { StepRef, TurnRef } from '../../workflows/contract/job.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { JobEventData } from '../jobs/event-types.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson } from '../stored-text.ts';

/** A chunk of a step's text while the model produces it. */
interface TextChunk extends StepRef {
  /** Identifies the attempt; a superseded one appends nothing. */
  fence: number;
  offset: number;
  text: string;
  /** Set when it may have been appended before; it is then looked up first. */
  isRepeated: boolean;
}

/** Output of a command, in a step or outside of one. */
export interface OutputBatch extends TurnRef {
  /** Null while no step has begun; otherwise the attempt that holds it appends, until its results are stored. */
  step: { step: number; fence: number } | null;
  chunks: JobEventData['output'][];
}

export type WorkerEventStore = ReturnType<typeof createWorkerEventStore>;

/** Creates the store with which workers append to a job's log of events: text, output and notices. */
export function createWorkerEventStore(pool: Pool) {
  /** The chunks that arrive while a statement runs share the next one, so that a process needs one commit for all of them. */
  const texts = createBatchLoader({
    keyOf: ({ jobId, turn, step, fence, offset }: TextChunk) => [jobId, turn, step, fence, offset].join('/'),
    loadMany: (chunks) => appendTexts(chunks),
    atOnce: 1,
  });

  /**
   * Returns the chunks that were appended. Locks their steps against the next attempts, so that no text follows an
   * attempt's `step-start`. A statement for several jobs skips those that are locked: one job may not delay others.
   */
  async function appendTexts(chunks: TextChunk[], ifLocked: 'skip locked' | '' = 'skip locked'): Promise<TextChunk[]> {
    const { rows } = await pool.query<{ position: number }>({
      name: ifLocked === '' ? 'append-text' : 'append-texts',
      text: `
        with ours as materialized (
          select chunk.*
          from jsonb_to_recordset($1) as chunk (position integer, "jobId" text, turn integer, step integer, fence bigint,
                                                "offset" integer, text text, "isRepeated" boolean)
          join job_steps on job_steps.job_id = chunk."jobId" and job_steps.turn = chunk.turn
            and job_steps.step = chunk.step and job_steps.fence = chunk.fence and job_steps.response is null
          join job_event_logs as logs on logs.job_id = job_steps.job_id
          for share of job_steps ${ifLocked} for no key update of logs ${ifLocked}
        )
        select position from ours, jsonb_build_object('attempt', fence, 'offset', "offset") as place
        where case
          when "isRepeated" and exists (
            select from job_events as event
            where event.job_id = "jobId" and event.turn = ours.turn and event.step = ours.step and type = 'text'
              and data @> place
          ) then true
          else append_job_events("jobId", turn, step, jsonb_build_array(
            jsonb_build_object('type', 'text', 'data', place || jsonb_build_object('text', text)))) is not null
        end`,
      values: [toStoredJson(chunks.map((chunk, position) => ({ ...chunk, position })))],
    });
    const appended = new Set(rows.map(({ position }) => position));
    return chunks.filter((_, position) => appended.has(position));
  }

  /** Returns false when the attempt was superseded, the step has an answer, or the turn has ended. */
  async function appendText(chunk: TextChunk): Promise<boolean> {
    const isOurs = (await texts.load(chunk)) !== null || (await appendTexts([chunk], '')).length > 0;
    if (isOurs) wakeWatchers(pool, chunk.jobId);
    return isOurs;
  }

  /** Returns the number of the last event. Null when the attempt was superseded, or the step or the turn has ended. */
  async function appendOutput({ jobId, turn, step, chunks }: OutputBatch): Promise<number | null> {
    const { rows } = await pool.query<{ last: number | null }>({
      name: 'append-output',
      text: `
        with ours as materialized (
          select from job_steps
          where job_id = $1 and turn = $2 and step = $3 and fence = $4 and tool_results is null
          for share
        )
        select append_job_events($1, $2, $3, $5)::float8 as last where $3::integer is null or exists (select from ours)`,
      values: [
        jobId,
        turn,
        step?.step ?? null,
        step?.fence ?? null,
        toStoredJson(chunks.map((data) => ({ type: 'output', data }))),
      ],
    });
    const last = rows[0]?.last ?? null;
    if (last !== null) wakeWatchers(pool, jobId);
    return last;
  }

  /** Removes the output events among those numbered `first` to `last`. */
  async function removeOutput({ jobId, first, last }: { jobId: string; first: number; last: number }): Promise<void> {
    await pool.query({
      name: 'remove-output',
      text: `delete from job_events where job_id = $1 and seq between $2 and $3 and type = 'output'`,
      values: [jobId, first, last],
    });
  }

  /** Appends a notice for people to an active turn. */
  async function appendNotice({ jobId, turn, text }: TurnRef & { text: string }): Promise<void> {
    const event = [{ type: 'notice', data: { text } }];
    await pool.query({
      name: 'append-notice',
      text: `select append_job_events($1, $2, null, $3) from jobs where id = $1 and turn = $2 and status = 'active'`,
      values: [jobId, turn, toStoredJson(event)],
    });
    wakeWatchers(pool, jobId);
  }

  return { appendText, appendNotice, appendOutput, removeOutput };
}
