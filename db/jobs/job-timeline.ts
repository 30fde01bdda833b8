import type { Pool } from 'pg';
import { SnapshotRemovedError, TranscriptRemovedError } from './snapshot-removed.ts';
import type { StepRef } from '../../workflows/contract/job.ts';
import type { StepKey } from '../for-worker/steps.ts';
import type { Owner } from '../caller.ts';
import type { ImageRef } from './job-images.ts';
import { isJobOf, isMergedBy, newestTree, ofBase, treeAt, withLineage } from './job-statements.ts';
import { turnRows, type TimelineTurn } from './timeline-turns.ts';

/** A tool call with its result; lists truncate long inputs and outputs. */
interface TimelineCall {
  toolCallId: string;
  toolName: string;
  /** Of a truncated input, the beginning of its JSON. */
  input: unknown;
  /** Null while the tool runs. */
  output: string | null;
  /** Length of the whole output. */
  characters: number | null;
  isError: boolean;
  /** An image that the model saw after the output; null if there was none. */
  image: ImageRef | null;
  /** Null while the tool runs, and in results stored by earlier versions. */
  durationMs: number | null;
}

/** Times are in ISO format; an attempt ended at some time before the next one began. */
interface LostAttempt {
  attempt: number;
  worker: string | null;
  startedAt: string;
  endedAt: string;
}

export interface TimelineStep {
  turn: number;
  step: number;
  /** Number of attempts for the step: calls of the model, batches of tools, and those of killed workers. */
  attempts: number;
  modelFailures: number;
  /** Process of the newest attempt, such as `12510@vm`; null in steps of earlier versions. */
  worker: string | null;
  /** Attempts that another one followed, in order. */
  lostAttempts: LostAttempt[];
  /** The model that answered; null while there is no answer. */
  model: string | null;
  /** Models whose calls failed, with the number of their failures. */
  failedModels: { model: string; failures: number }[];
  /** The model's text; null while there is no answer. */
  text: string | null;
  toolCalls: TimelineCall[];
  finishReason: string | null;
  inputTokens: number;
  /** Of the input, what the provider had in its cache, and what it put there. */
  cachedTokens: number;
  cacheWriteTokens: number;
  outputTokens: number;
  costMicros: number | null;
  /** Files that differ from the base commit after the step; null when none does. */
  changedFiles: number | null;
  /** Whether the step changed files. */
  hasChanged: boolean;
  startedAt: Date;
  answeredAt: Date | null;
  endedAt: Date | null;
}

interface TimelinePage<Row> {
  rows: Row[];
  /** Whether more may follow, because the page is full by number or by size. */
  isFull: boolean;
}

/** Largest number of turns or steps of a page, and of tool calls shown of one step. */
export const maxTimelinePageSize = 100;
/** Largest number of lost attempts that are kept of a step. */
export const maxLostAttempts = 50;
/** Size limit of a page, in bytes of the database's text. A page has at least one row. */
const pageBytes = 2_000_000;
/** Lists truncate longer texts, inputs and outputs. */
const maxTextLength = 20_000;
const maxPartLength = 4_000;

interface StepChange {
  /** False while the step has not ended, and when it did not change the tree. */
  hasChanged: boolean;
  /** Null also where the change was not stored, as for steps copied from another job. */
  patch: string | null;
}

const hasChanged = `
  steps.tree is not null and steps.tree is distinct from earlier.tree
    and (earlier.tree is not null or snapshots.tree is not null) as "hasChanged"`;

/** `text` and `part`: lengths at which texts, and inputs and outputs, are truncated; null for no limit. */
const stepColumns = ({ text, part }: { text: number; part: number } | { text: null; part: null }) => {
  const cut = (value: string, length: number | null) => (length === null ? value : `left(${value}, ${length})`);
  const input = "call -> 'input'";
  return `
  steps.turn, steps.step, steps.fence::float8 as attempts, steps.model_failures as "modelFailures",
  steps.worker, coalesce(steps.lost_attempts, '[]') as "lostAttempts",
  case when steps.response is not null
       then coalesce(steps.model, (select model from jobs where id = steps.job_id)) end as model,
  coalesce((select jsonb_agg(jsonb_build_object('model', key, 'failures', value) order by value::integer desc, key)
            from jsonb_each(steps.failed_models)), '[]') as "failedModels",
  ${cut("steps.response ->> 'text'", text)} as text, coalesce((
    select jsonb_agg(jsonb_build_object(
      'toolCallId', call -> 'toolCallId', 'toolName', call -> 'toolName',
      'input', ${part === null ? input : `case when length(call ->> 'input') > ${part} then to_jsonb(${cut("call ->> 'input'", part)}) else ${input} end`},
      'output', ${cut("result ->> 'output'", part)}, 'characters', length(result ->> 'output'),
      'isError', coalesce(result -> 'isError', 'false'), 'image', result -> 'image', 'durationMs', result -> 'durationMs') order by position)
    from (
      select call, position from jsonb_array_elements(steps.response -> 'toolCalls') with ordinality as calls (call, position)
      order by position limit ${maxTimelinePageSize}
    ) as calls left join jsonb_array_elements(steps.tool_results) as result on result -> 'toolCallId' = call -> 'toolCallId'
  ), '[]') as "toolCalls", steps.finish_reason as "finishReason",
  steps.input_tokens::float8 as "inputTokens", steps.cached_tokens::float8 as "cachedTokens",
  steps.cache_write_tokens::float8 as "cacheWriteTokens", steps.output_tokens::float8 as "outputTokens",
  steps.cost_micros::float8 as "costMicros", snapshots.changed_files as "changedFiles", ${hasChanged},
  steps.started_at as "startedAt", steps.answered_at as "answeredAt", steps.ended_at as "endedAt"`;
};

/** Selects the tree before a step; null for that of the base commit. */
const earlierTree = `
  select tree from (
    (select turn, step, 0 as later, tree from job_steps
     where job_id = steps.job_id and (turn, step) < (steps.turn, steps.step) and tree is not null
     order by turn desc, step desc limit 1)
    union all
    -- what the working copy was made equal to since, because others had changed the branch
    (select turn, coalesce(tree_step, 0), 1, tree from job_turns
     where job_id = steps.job_id and (turn, coalesce(tree_step, 0)) < (steps.turn, steps.step) and tree is not null
     order by turn desc limit 1)
    union all
    (select turn, 0, 1, first_tree from job_turns
     where job_id = steps.job_id and turn <= steps.turn and first_tree is not null order by turn desc limit 1)
  ) as trees order by turn desc, step desc, later desc limit 1`;

const stepTables = `
  job_steps as steps left join job_snapshots as snapshots on snapshots.job_id = steps.job_id and snapshots.tree = steps.tree
  left join lateral (${earlierTree}) as earlier on true`;

interface Sized {
  /** Size of the rows up to and including this one. */
  bytes: number;
}

/** Selects the first rows, up to the one that fills a page. */
const inPages = ({ rows, order, size }: { rows: string; order: string; size: string }) => `
  select * from (
    select *, (sum(${size}) over (order by ${order}))::float8 as bytes, (${size})::float8 as own from (${rows}) as rows
  ) as sized where bytes - own < ${pageBytes} order by ${order}`;

function pageOf<Row extends object>(rows: (Row & Sized)[], limit: number): TimelinePage<Row> {
  return { rows, isFull: rows.length >= limit || (rows.at(-1)?.bytes ?? 0) >= pageBytes };
}

export type JobTimelineStore = ReturnType<typeof createJobTimelineStore>;

/** Creates the store of a job's timeline, as people see it. */
export function createJobTimelineStore(pool: Pool) {
  /** Throws TranscriptRemovedError for a job without rows if it had some. */
  async function checkKept<Row>(rows: Row[], { organizationId }: Owner, jobId: string): Promise<Row[]> {
    if (rows.length > 0) return rows;
    const { rowCount } = await pool.query(
      'select from jobs where id = $1 and organization_id = $2 and transcript_removed_at is not null',
      [jobId, organizationId],
    );
    if (rowCount !== 0) throw new TranscriptRemovedError();
    return rows;
  }

  return {
    /** Returns the turns in order, each with the messages sent while it was active. */
    async turns(
      { organizationId }: Owner,
      jobId: string,
      { after, limit }: { after: number; limit: number },
    ): Promise<TimelinePage<TimelineTurn>> {
      const { rows } = await pool.query<TimelineTurn & Sized>({
        name: 'job-timeline-turns',
        text: inPages({
          order: 'turn',
          rows: turnRows,
          size: 'octet_length(prompt) + octet_length(messages::text)',
        }),
        values: [jobId, after, limit, organizationId],
      });
      return pageOf(rows, limit);
    },

    /** Returns the steps after a position, in order, with long texts truncated. */
    async steps(
      owner: Owner,
      jobId: string,
      { after, limit }: { after: StepKey; limit: number },
    ): Promise<TimelinePage<TimelineStep>> {
      const { rows } = await pool.query<TimelineStep & Sized>({
        name: 'job-timeline-steps',
        text: inPages({
          order: 'turn, step',
          rows: `select ${stepColumns({ text: maxTextLength, part: maxPartLength })} from ${stepTables}
                 where steps.job_id = $1 and (steps.turn, steps.step) > ($2, $3) and ${isJobOf('$1', '$5')}
                 order by steps.turn, steps.step limit $4`,
          size: `coalesce(octet_length(text), 0) + octet_length("toolCalls"::text)`,
        }),
        values: [jobId, after.turn, after.step, limit, owner.organizationId],
      });
      return pageOf(await checkKept(rows, owner, jobId), limit);
    },

    async step(owner: Owner, { jobId, turn, step }: StepRef): Promise<TimelineStep | null> {
      const { rows } = await pool.query<TimelineStep>({
        name: 'job-timeline-step',
        text: `select ${stepColumns({ text: null, part: null })} from ${stepTables}
               where steps.job_id = $1 and steps.turn = $2 and steps.step = $3 and ${isJobOf('$1', '$4')}`,
        values: [jobId, turn, step, owner.organizationId],
      });
      return (await checkKept(rows, owner, jobId))[0] ?? null;
    },

    /**
     * Returns the job's change up to and including a step, as a patch against the base commit; null when there was none.
     */
    async patchAt(owner: Owner, { jobId, turn, step }: StepRef): Promise<string | null> {
      const { rows } = await pool.query<{ patch: string; isRemoved: boolean }>({
        name: 'job-timeline-patch',
        text: `
          ${withLineage}
          select patch, removed_at is not null as "isRemoved" from lineage join job_snapshots as kept on job_id = lineage.id
          where ${isJobOf('$1', '$4')} and tree = (${treeAt}) and not ${isMergedBy({ job: '$1', turn: '$2' })}
          order by distance limit 1`,
        values: [jobId, turn, step, owner.organizationId],
      });
      await checkKept(rows, owner, jobId);
      if (rows[0]?.isRemoved === true) throw new SnapshotRemovedError();
      return rows[0]?.patch ?? null;
    },

    /** Returns the newest patch (`text/x-diff`) of a job; null when it changed nothing. */
    async latestPatch(owner: Owner, jobId: string): Promise<string | null> {
      const { rows } = await pool.query<{ patch: string }>(
        `select patch from job_snapshots
         where ${ofBase} and patch <> '' and tree = (${newestTree}) and ${isJobOf('$1', '$2')}`,
        [jobId, owner.organizationId],
      );
      return (await checkKept(rows, owner, jobId))[0]?.patch ?? null;
    },

    /** Returns the change of a step alone; null when there is no such step. */
    async changeOf(owner: Owner, { jobId, turn, step }: StepRef): Promise<StepChange | null> {
      const { rows } = await pool.query<StepChange & { isRemoved: boolean }>({
        name: 'job-step-change',
        text: `select steps.patch, snapshots.removed_at is not null as "isRemoved", ${hasChanged} from ${stepTables}
               where steps.job_id = $1 and steps.turn = $2 and steps.step = $3 and ${isJobOf('$1', '$4')}`,
        values: [jobId, turn, step, owner.organizationId],
      });
      const [change] = await checkKept(rows, owner, jobId);
      if (change === undefined) return null;
      if (change.isRemoved) throw new SnapshotRemovedError();
      return { hasChanged: change.hasChanged, patch: change.patch };
    },
  };
}
