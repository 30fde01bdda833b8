import type { Pool } from 'pg';
import type { StepRef, TokenUsage } from '../../workflows/contract/job.ts';
import type { NoteKind } from '../jobs/bundle-schema.ts';
import type { ImageRef } from '../jobs/job-images.ts';
import type { Prompt } from './jobs.ts';
import { stepColumns } from '../jobs/job-statements.ts';
import type { StepKey, StepRow } from './steps.ts';
import type { NewJobEvent } from '../jobs/event-types.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export interface JobNote {
  turn: number;
  /** The step whose call of the model is the first to read it. */
  step: number;
  kind: NoteKind;
  text: string;
}

/** The service's own log of what an agent did, which remains when notes replace the conversation. */
export interface Ledger {
  /** Path → etag of the version last read or written; null when unknown. */
  read: Record<string, string | null>;
  changed: string[];
  todo: { text: string; done: boolean }[];
  /** The plan that a person approved; absent if none was. */
  plan?: string;
  /** Longest quote of a message of an earlier turn, in characters; absent if they are quoted whole. */
  quoteLength?: number;
}

/** A summary that replaces the conversation up to and including a step. */
export interface Compaction {
  /** The call it was made for. */
  turn: number;
  step: number;
  uptoTurn: number;
  uptoStep: number;
  summary: string;
  ledger: Ledger;
  /** The job's tree at that time; null while nothing had changed. */
  tree: string | null;
  /** Token usage of the call that made it. */
  usage: TokenUsage;
}

export interface NewCompaction extends Omit<Compaction, 'usage'> {
  jobId: string;
  usage: TokenUsage & { cachedTokens: number; cacheWriteTokens: number };
  costMicros: number | null;
}

/** The context of a model call. */
export interface JobContext {
  prompts: Prompt[];
  notes: JobNote[];
  /** The newest one; null when there is none. */
  compaction: Compaction | null;
  /** The result of the newest turn's effect that stored the instructions; null before it. */
  instructions: unknown;
  /** The last step that the reader knew; null for no steps. */
  known: StepKey | null;
  /** The steps that follow the last known one. */
  steps: StepRow[];
}

export type ContextRow =
  | { part: 'prompt'; turn: number; step: number | null; text: string; data: ImageRef[] }
  | ({ part: 'note' } & JobNote)
  | {
      part: 'compaction';
      turn: number;
      step: number;
      text: string;
      data: Omit<Compaction, 'turn' | 'step' | 'summary'>;
    }
  | { part: 'instructions'; data: unknown }
  | { part: 'step'; data: StepRow };

const storeStatement = `
  with stored as (
    insert into job_compactions (job_id, turn, step, upto_turn, upto_step, summary, ledger, tree, input_tokens,
                                 cached_tokens, output_tokens, cost_micros, cache_write_tokens)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
    on conflict (job_id, turn, step) do nothing
    returning job_id
  ), counted as (
    update jobs
    set input_tokens = jobs.input_tokens + $9, output_tokens = jobs.output_tokens + $11,
        cached_tokens = jobs.cached_tokens + $10, cache_write_tokens = jobs.cache_write_tokens + $13,
        cost_micros = jobs.cost_micros + coalesce($12, 0), is_cost_known = is_cost_known and $12 is not null,
        updated_at = now()
    from stored where jobs.id = stored.job_id
    returning jobs.project_id
  ), settled as (
    update job_steps set asked_micros = 0 from stored
    where job_steps.job_id = stored.job_id and job_steps.turn = $2 and job_steps.step = $3
  ), freed as (
    delete from cost_reservations as held using stored
    where held.job_id = stored.job_id and held.turn = $2 and held.step = $3
  ), spent as (
    insert into project_spending as spending (project_id, day, cost_micros)
    select project_id, (now() at time zone 'utc')::date, $12 from counted where $12 > 0
    on conflict (project_id, day) do update set cost_micros = spending.cost_micros + excluded.cost_micros
  )
  select from stored`;

/** Query for the parts of the context of the call of a step: `$1` to `$3`. `known` are parameters, null for no steps. */
export const contextParts = (known: Record<keyof StepKey, string>) => `
  select 'prompt' as part, turn, 0 as position, 0 as step, null as kind, prompt as text, images::json as data
  from job_turns where job_id = $1 and turn <= $2
  union all
  select 'prompt', turn, position, step, null, prompt, images::json
  from job_messages where job_id = $1 and turn <= $2
  union all
  select 'note', turn, 0, step, kind, text, null from job_notes where job_id = $1 and turn <= $2
  union all
  (select 'compaction', turn, 0, step, null, summary,
          json_build_object('uptoTurn', upto_turn, 'uptoStep', upto_step, 'ledger', ledger, 'tree', tree, 'usage',
                            json_build_object('inputTokens', input_tokens, 'outputTokens', output_tokens))
   from job_compactions where job_id = $1 order by turn desc, step desc limit 1)
  union all
  (select 'instructions', turn, 0, null, null, null, result::json
   from job_effects where job_id = $1 and turn <= $2 and effect = 'instructions' and result is not null
   order by turn desc limit 1)
  union all
  select 'step', turn, 0, step, null, null, to_json(one)
  from (select ${stepColumns} from job_steps
        where job_id = $1 and (turn, step) > (${known.turn}, ${known.step}) and (turn, step) < ($2, $3)) as one`;

const contextStatement = `
  select part, turn, step, kind, text, data from (${contextParts({ turn: '$4', step: '$5' })}) as parts
  order by turn, position, step, kind`;

/** Returns the context whose parts a statement has read. */
export function contextOf(rows: ContextRow[], known: StepKey | null): JobContext {
  const newest = rows.find((row) => row.part === 'compaction');
  return {
    prompts: rows
      .filter((row) => row.part === 'prompt')
      .map(({ text, data, ...at }) => ({ turn: at.turn, step: at.step, prompt: text, images: data })),
    notes: rows
      .filter((row) => row.part === 'note')
      .map((row) => ({ turn: row.turn, step: row.step, kind: row.kind, text: row.text })),
    compaction:
      newest === undefined ? null : { turn: newest.turn, step: newest.step, summary: newest.text, ...newest.data },
    instructions: rows.find((row) => row.part === 'instructions')?.data ?? null,
    known,
    steps: rows.filter((row) => row.part === 'step').map(({ data }) => data),
  };
}

export type JobContextStore = ReturnType<typeof createJobContextStore>;

/** Stores the parts of a job's conversation other than prompts, answers and tool results. */
export function createJobContextStore(pool: Pool) {
  return {
    /** Stores a note unless it exists. A new one sends `notice`, if any, to the job's watchers. */
    async addNote({
      jobId,
      turn,
      step,
      kind,
      text,
      notice,
    }: { jobId: string; notice?: string } & JobNote): Promise<void> {
      const events: NewJobEvent[] = notice === undefined ? [] : [{ type: 'notice', data: { text: notice } }];
      await pool.query({
        name: 'add-job-note',
        text: `
          with added as (
            insert into job_notes (job_id, turn, step, kind, text) values ($1, $2, $3, $4, $5)
            on conflict (job_id, turn, step, kind) do nothing
            returning job_id, turn, step
          )
          select append_job_events(job_id, turn, step, $6) from added`,
        values: [jobId, turn, step, kind, toStoredText(text), toStoredJson(events)],
      });
      if (events.length > 0) wakeWatchers(pool, jobId);
    },

    /**
     * Returns the context of a step's call in one statement, its prompts, notes and steps in order. `known` is the last
     * step that the caller knows; null for no steps.
     */
    async read({ jobId, turn, step }: StepRef, known: StepKey | null): Promise<JobContext> {
      const { rows } = await pool.query<ContextRow>({
        name: 'job-context',
        text: contextStatement,
        values: [jobId, turn, step, known?.turn ?? null, known?.step ?? null],
      });
      return contextOf(rows, known);
    },

    /** Returns the job's notes up to and including the turn, in order. */
    async notes(jobId: string, turn: number): Promise<JobNote[]> {
      const { rows } = await pool.query<JobNote>({
        name: 'list-job-notes',
        text: `select turn, step, kind, text from job_notes where job_id = $1 and turn <= $2 order by turn, step, kind`,
        values: [jobId, turn],
      });
      return rows;
    },

    /** Returns the newest compactions, newest first. */
    async compactions(jobId: string, limit: number): Promise<Compaction[]> {
      const { rows } = await pool.query<Compaction>({
        name: 'newest-compactions',
        text: `select turn, step, upto_turn as "uptoTurn", upto_step as "uptoStep", summary, ledger, tree,
                      jsonb_build_object('inputTokens', input_tokens, 'outputTokens', output_tokens) as usage
               from job_compactions where job_id = $1 order by turn desc, step desc limit $2`,
        values: [jobId, limit],
      });
      return rows;
    },

    /**
     * Stores a compaction and adds its cost to the job and its project. False when the call already has one, which stays.
     */
    async storeCompaction(compaction: NewCompaction): Promise<boolean> {
      const { jobId, turn, step, uptoTurn, uptoStep, summary, ledger, tree, usage, costMicros } = compaction;
      const { rowCount } = await pool.query(storeStatement, [
        jobId,
        turn,
        step,
        uptoTurn,
        uptoStep,
        toStoredText(summary),
        toStoredJson(ledger),
        tree,
        usage.inputTokens,
        usage.cachedTokens,
        usage.outputTokens,
        costMicros,
        usage.cacheWriteTokens,
      ]);
      return rowCount === 1;
    },
  };
}
