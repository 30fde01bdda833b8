import type { Pool } from 'pg';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { NewJobEvent } from '../jobs/event-types.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

/**
 * What the service says to the agent. `nudge`: it goes round in circles. `calls-left`, `last-call`: a limit is near.
 * `overruled`: others changed the same places of the branch. `guidance:<path>`: what the repository says in that file. `check`: its
 * work is checked. `no-commands`: nothing can be run. `call-finish`: it ended without the check.
 */
export type NoteKind =
  | 'nudge'
  | 'calls-left'
  | 'last-call'
  | 'overruled'
  | 'check'
  | 'no-commands'
  | 'call-finish'
  | `guidance:${string}`;

export interface JobNote {
  turn: number;
  /** The step whose call of the model is the first to read it. */
  step: number;
  kind: NoteKind;
  text: string;
}

/** What the agent has touched and plans, kept by the machine. */
export interface Ledger {
  /** Path → etag of what was last read or written; null: no etag is known. */
  read: Record<string, string | null>;
  changed: string[];
  todo: { text: string; done: boolean }[];
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
  /** The job's tree then; null while nothing had changed. */
  tree: string | null;
  /** What the call that made it used. */
  usage: TokenUsage;
}

export interface NewCompaction extends Omit<Compaction, 'usage'> {
  jobId: string;
  usage: TokenUsage & { cachedTokens: number };
  costMicros: number | null;
}

export interface JobContextStore {
  /** A note that is there already stays as it is. A new one sends `notice`, if any, to the job's watchers. */
  addNote(note: { jobId: string; notice?: string } & JobNote): Promise<void>;
  /** Of the job up to and with the turn, in order. */
  notes(jobId: string, turn: number): Promise<JobNote[]>;
  /** The newest ones, newest first. */
  compactions(jobId: string, limit: number): Promise<Compaction[]>;
  /** Counts what it cost into the job and its project. False: the call has one already, and that one stays. */
  storeCompaction(compaction: NewCompaction): Promise<boolean>;
}

const storeStatement = `
  with stored as (
    insert into job_compactions (job_id, turn, step, upto_turn, upto_step, summary, ledger, tree, input_tokens,
                                 cached_tokens, output_tokens, cost_micros)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
    on conflict (job_id, turn, step) do nothing
    returning job_id
  ), counted as (
    update jobs
    set input_tokens = jobs.input_tokens + $9, output_tokens = jobs.output_tokens + $11,
        cost_micros = jobs.cost_micros + $12, updated_at = now()
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

/** What a job's conversation holds beside prompts, answers and tool results. */
export function createJobContextStore(pool: Pool): JobContextStore {
  return {
    async addNote({ jobId, turn, step, kind, text, notice }) {
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
    },

    async notes(jobId, turn) {
      const { rows } = await pool.query<JobNote>({
        name: 'list-job-notes',
        text: `select turn, step, kind, text from job_notes where job_id = $1 and turn <= $2 order by turn, step, kind`,
        values: [jobId, turn],
      });
      return rows;
    },

    async compactions(jobId, limit) {
      const { rows } = await pool.query<Compaction>({
        name: 'newest-compactions',
        text: `select turn, step, upto_turn as "uptoTurn", upto_step as "uptoStep", summary, ledger, tree,
                      jsonb_build_object('inputTokens', input_tokens, 'outputTokens', output_tokens) as usage
               from job_compactions where job_id = $1 order by turn desc, step desc limit $2`,
        values: [jobId, limit],
      });
      return rows;
    },

    async storeCompaction(compaction) {
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
      ]);
      return rowCount === 1;
    },
  };
}
