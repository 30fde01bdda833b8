import type { Pool } from 'pg';
import type { StepRef, TokenUsage, TurnRef } from '../../workflows/contract/job.ts';
import type { NewJobEvent } from '../jobs/event-types.ts';
import type { ImageRef } from '../jobs/job-images.ts';
import { ofActiveTurn, stepColumns } from '../jobs/job-statements.ts';
import { grantsOf, projectVersionOf, type JobNow } from './projects/projects.ts';
import { createStepClaims } from './step-claims.ts';
import {
  boundSnapshots,
  createSnapshotReads,
  insertSnapshots,
  joinSnapshot,
  type Snapshot,
  type SnapshotColumns,
  snapshotBytes,
  snapshotIn,
  valuesOf,
} from './snapshots.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';

export interface ToolCall {
  toolCallId: string;
  toolName: string;
  /** As the model returned it: an object, or the text that did not parse (see `invalid`). */
  input: unknown;
  /** Set when the call names no tool or its input is invalid; the sentence for the model. */
  invalid?: string;
}

/** A stored answer of a model: enough to continue the conversation and to replay the step. */
export interface StepResponse {
  /** Content parts of the assistant message in the AI SDK's ModelMessage form (text, reasoning, tool-call), with provider options kept. */
  content: unknown[];
  text: string;
  toolCalls: ToolCall[];
}

export interface ToolResult {
  toolCallId: string;
  toolName: string;
  output: string;
  isError: boolean;
  /** Absent in results stored by earlier versions. */
  durationMs?: number;
  /** An image that the model sees after the output. */
  image?: ImageRef;
}

export interface StepRow {
  jobId: string;
  turn: number;
  step: number;
  fence: number;
  response: StepResponse | null;
  finishReason: string | null;
  usage: TokenUsage;
  /** The input tokens that the provider had in its cache. */
  cachedTokens: number;
  /** In millionths of a US dollar; null without an answer, or when the model's price is unknown. */
  costMicros: number | null;
  toolResults: ToolResult[] | null;
  tree: string | null;
  modelFailures: number;
  /** The model that answered; null without an answer, and in steps of earlier versions. */
  model: string | null;
  /** The hash of the tools that the call offered; null without an answer, and in steps of earlier versions. */
  toolsHash: string | null;
}

/** Columns of a claimed step that an attempt needs to run its tools. */
export type ClaimedStep = Pick<StepRow, 'fence' | 'response' | 'toolResults'>;

/** Identifies a step of a known job. */
export type StepKey = Pick<StepRef, 'turn' | 'step'>;

/** The definitions of the tools that a call offered, as JSON. */
export interface OfferedTools {
  hash: string;
  /** Null when the job has them already. */
  definitions: string | null;
}

/** An attempt's answer of the model; the events are appended in the same transaction. */
interface StepAnswer extends StepRef {
  /** The model that answered. */
  model: string;
  requestHash: string;
  tools?: OfferedTools;
  response: StepResponse;
  finishReason: string;
  usage: TokenUsage;
  cachedTokens?: number;
  /** The input tokens that the provider put in its cache. */
  cacheWriteTokens?: number;
  /** In millionths of a US dollar; null when the price of the model is unknown. */
  costMicros: number | null;
  /** Number of messages that the step's call has read. An answer that read fewer than the step has is not stored. */
  knownMessages?: number;
  events?: StepAnswerEvents;
}

export interface StepAnswerEvents {
  /** The fence of the attempt. */
  attempt: number;
  /** Events to append while the attempt holds the step. */
  ours: NewJobEvent[];
  /** Events to append when another attempt has started. */
  overtaken: NewJobEvent[];
}

/** An attempt's results of a batch of tools; the events are appended in the same transaction. */
interface StepResults extends StepRef {
  fence: number;
  results: ToolResult[];
  tree: string;
  snapshot: Snapshot | null;
  /** Change of the step alone; null when there is none. */
  patch: string | null;
  events?: NewJobEvent[];
}

/** State from which the tools of a step start, once its answer is stored. */
export interface ToolStart {
  /** The job may have changed since the claim. */
  now: JobNow;
  /** The snapshot that they start from; null while nothing has changed since the base commit. */
  snapshot: Snapshot | null;
}

const storeStepResults = `
  update job_steps set tool_results = $5, tree = $6, patch = $7, ended_at = now()
  where job_id = $1 and turn = $2 and step = $3 and fence = $4 and tool_results is null and ${ofActiveTurn}
  returning job_id`;

const storeTools = {
  name: 'store-results',
  text: `with stored as (${storeStepResults}) select append_job_events(job_id, $2, $3, $8) from stored`,
};

/** Events are appended last, because that locks those of the job, for which live text and a cancel wait. */
const storeToolsAndSnapshot = {
  name: 'store-results-and-snapshot',
  text: `
    with stored as (${storeStepResults}), taken as (
      ${insertSnapshots('select job_id, $9, $10, $11, $12, $13, $14, $15, $16 from stored')}
      returning job_id
    )
    select ${snapshotBytes} + octet_length($12::bytea) + octet_length($13::text) + octet_length(coalesce($7::text, '')) as bytes,
           append_job_events(job_id, $2, $3, $8) from taken`,
};

export type StepStore = ReturnType<typeof createStepStore>;

/**
 * Creates the store of a job's steps and of the snapshots of its working copy. `worker` names the process, as Temporal
 * does: `12510@vm`.
 */
export function createStepStore(pool: Pool, worker: string | null = null, maxBytes?: number) {
  /**
   * Stores the answer if none is stored: concurrent attempts ask the same, and the first paid answer is kept. Null
   * when another one is stored. Usage is added to the job and its project at once.
   */
  async function storeResponse(answer: StepAnswer): Promise<ToolStart | null> {
    const { events } = answer;
    const { rows } = await pool.query<JobNow & SnapshotColumns>({
      name: 'store-response',
      text: `
        with stored as (
          update job_steps
          set request_hash = $4, response = $5, finish_reason = $6, input_tokens = $7, output_tokens = $8,
              cached_tokens = $13, cost_micros = $14, cache_write_tokens = $15, model = $16, tools_hash = $17, asked_micros = 0, answered_at = now()
          where job_id = $1 and turn = $2 and step = $3 and response is null and messages = $12
          returning job_id, fence
        ), counted as (
          update jobs
          set steps = jobs.steps + 1, input_tokens = jobs.input_tokens + $7, output_tokens = jobs.output_tokens + $8,
              cached_tokens = jobs.cached_tokens + $13, cache_write_tokens = jobs.cache_write_tokens + $15,
              cost_micros = jobs.cost_micros + coalesce($14, 0), is_cost_known = is_cost_known and $14 is not null,
              updated_at = now()
          from stored where jobs.id = stored.job_id
          returning jobs.project_id, jobs.organization_id, jobs.status, jobs.phase, jobs.turn
        ), spent as (
          insert into project_spending as spending (project_id, day, cost_micros)
          select project_id, (now() at time zone 'utc')::date, $14 from counted where $14 > 0
          on conflict (project_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros
        ), freed as (
          delete from cost_reservations as held using stored
          where held.job_id = stored.job_id and held.turn = $2 and held.step = $3
        ), offered as (
          insert into job_tools (job_id, hash, definitions)
          select job_id, $17, $18::json from stored where $18::json is not null
          on conflict do nothing
        )
        select status, phase, turn, ${grantsOf('counted.organization_id')} as grants,
               ${projectVersionOf('counted.project_id')} as "projectVersion", snapshot.*
        from stored, counted,
             append_job_events(job_id, $2, $3, case when fence = $9 then $10::jsonb else $11::jsonb end)
             ${joinSnapshot}`,
      values: [
        answer.jobId,
        answer.turn,
        answer.step,
        answer.requestHash,
        toStoredJson(answer.response),
        answer.finishReason,
        answer.usage.inputTokens,
        answer.usage.outputTokens,
        events?.attempt ?? null,
        toStoredJson(events?.ours ?? []),
        toStoredJson(events?.overtaken ?? []),
        answer.knownMessages ?? 0,
        answer.cachedTokens ?? 0,
        answer.costMicros,
        answer.cacheWriteTokens ?? 0,
        answer.model,
        answer.tools?.hash ?? null,
        answer.tools?.definitions ?? null,
      ],
    });
    const [row] = rows;
    if (row === undefined) return null;
    wakeWatchers(pool, answer.jobId);
    const { status, phase, turn, grants, projectVersion } = row;
    return { now: { status, phase, turn, grants, projectVersion }, snapshot: snapshotIn(row) };
  }

  /**
   * Stores results and, when files changed, the snapshot, in one transaction. False when another attempt has claimed the
   * step or stored its results, or when the turn has ended: a newer one may have read the job's tree.
   */
  async function storeResults(batch: StepResults): Promise<boolean> {
    const { jobId, turn, step, fence, results, tree, snapshot, patch, events = [] } = batch;
    const change = patch === null ? null : toStoredText(patch);
    const values = [jobId, turn, step, fence, toStoredJson(results), tree, change, toStoredJson(events)];
    const statement = snapshot === null ? storeTools : storeToolsAndSnapshot;
    const stored = await pool.query<{ bytes?: number }>({
      ...statement,
      values: snapshot === null ? values : [...values, ...valuesOf(snapshot)],
    });
    const [row] = stored.rows;
    if (row === undefined) return false;
    wakeWatchers(pool, jobId);
    if (snapshot !== null) await boundSnapshots(pool, { jobId, tree, bytes: row.bytes ?? 0, maxBytes });
    return true;
  }

  /** Returns the steps between two. */
  async function listBetween(jobId: string, range: { after: StepKey; before: StepKey }): Promise<StepRow[]> {
    const { after, before } = range;
    const { rows } = await pool.query<StepRow>({
      name: 'list-steps',
      text: `select ${stepColumns} from job_steps
             where job_id = $1 and (turn, step) > ($2, $3) and (turn, step) < ($4, $5) order by turn, step`,
      values: [jobId, after.turn, after.step, before.turn, before.step],
    });
    return rows;
  }

  /** Returns the newest step of a turn that has an answer. */
  async function lastAnswered({ jobId, turn }: TurnRef): Promise<StepRow | null> {
    const { rows } = await pool.query<StepRow>(
      `select ${stepColumns} from job_steps
       where job_id = $1 and turn = $2 and response is not null order by step desc limit 1`,
      [jobId, turn],
    );
    return rows[0] ?? null;
  }

  return {
    ...createStepClaims(pool, worker),
    storeResponse,
    storeResults,
    /** Returns all steps of a job up to and including the turn, in order. */
    list: (jobId: string, turn: number): Promise<StepRow[]> =>
      listBetween(jobId, { after: { turn: 0, step: 0 }, before: { turn: turn + 1, step: 0 } }),
    listBetween,
    lastAnswered,
    ...createSnapshotReads(pool),
  };
}
