import type { Pool } from 'pg';
import { SnapshotRemovedError } from './snapshot-removed.ts';
import type { StepRef } from '../workflows/contract/job.ts';
import type { Owner } from './caller.ts';
import { isJobOf, newestTree, ofBase } from './job-statements.ts';
import type { StepResponse, ToolResult } from './worker/steps.ts';

/** What somebody said to a job while a turn was under way. */
export interface ToldMessage {
  position: number;
  /** The step that was the first to read it; null while it waits. */
  step: number | null;
  prompt: string;
  createdAt: string;
}

export interface ToldTurn {
  turn: number;
  prompt: string;
  status: 'active' | 'completed' | 'failed';
  createdAt: Date;
  endedAt: Date | null;
  messages: ToldMessage[];
}

export interface ToldStep {
  turn: number;
  step: number;
  /** How many attempts of workers took the step: calls of the model, batches of tools and what a killed one left. */
  attempts: number;
  modelFailures: number;
  response: StepResponse | null;
  toolResults: ToolResult[] | null;
  finishReason: string | null;
  inputTokens: number;
  outputTokens: number;
  costMicros: number | null;
  /** Files that differ from the base commit behind the step; null when none does. */
  changedFiles: number | null;
  /** Whether the step left other files than it found. */
  hasChanged: boolean;
  startedAt: Date;
  answeredAt: Date | null;
  endedAt: Date | null;
}

type Place = Pick<StepRef, 'turn' | 'step'>;

export interface JobStoryStore {
  /** What was asked, in order: each turn with what was said while it was under way. */
  turns(owner: Owner, jobId: string): Promise<ToldTurn[]>;
  /** The steps behind a place, in order. */
  steps(owner: Owner, jobId: string, page: { after: Place; limit: number }): Promise<ToldStep[]>;
  step(owner: Owner, ref: StepRef): Promise<ToldStep | null>;
  /** The change of the job as it stood behind a step, as a patch against the base commit; null when there was none. */
  patchAt(owner: Owner, ref: StepRef): Promise<string | null>;
  /** The newest patch (`text/x-diff`) of a job; null when it changed nothing. */
  latestPatch(owner: Owner, jobId: string): Promise<string | null>;
  /** The ids of the trees around a step; null when there is no such step. */
  treesAround(owner: Owner, ref: StepRef): Promise<TreesAround | null>;
  /** A tree by its id; null when no snapshot of it is kept, as of the tree of the base commit. */
  tree(owner: Owner, ref: { jobId: string; tree: string }): Promise<ToldTree | null>;
}

/** A tree of the working copy as its snapshot has it. */
export interface ToldTree {
  baseCommit: string;
  patch: string;
}

export interface TreesAround {
  /** False while the step has not ended, and when it left the tree as it was. */
  differ: boolean;
  before: string | null;
  after: string | null;
}

const stepColumns = `
  steps.turn, steps.step, steps.fence::float8 as attempts, steps.model_failures as "modelFailures", steps.response,
  steps.tool_results as "toolResults", steps.finish_reason as "finishReason",
  steps.input_tokens::float8 as "inputTokens", steps.output_tokens::float8 as "outputTokens",
  steps.cost_micros::float8 as "costMicros", snapshots.changed_files as "changedFiles",
  steps.tree is not null and steps.tree is distinct from earlier.tree
    and (earlier.tree is not null or snapshots.tree is not null) as "hasChanged",
  steps.started_at as "startedAt", steps.answered_at as "answeredAt", steps.ended_at as "endedAt"`;

/** The tree that a step began with; null: the one of the base commit. */
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

/** What happened in a job, for people who look at it. */
export function createJobStoryStore(pool: Pool): JobStoryStore {
  return {
    async turns({ organizationId }, jobId) {
      const { rows } = await pool.query<ToldTurn>({
        name: 'job-story-turns',
        text: `
          select turn, prompt, status, created_at as "createdAt", ended_at as "endedAt", coalesce((
                   select jsonb_agg(jsonb_build_object('position', position, 'step', step, 'prompt', said.prompt,
                                                       'createdAt', said.created_at) order by position)
                   from job_messages as said where said.job_id = turns.job_id and said.turn = turns.turn
                 ), '[]') as messages
          from job_turns as turns where job_id = $1 and ${isJobOf('$1', '$2')} order by turn`,
        values: [jobId, organizationId],
      });
      return rows;
    },

    async steps({ organizationId }, jobId, { after, limit }) {
      const { rows } = await pool.query<ToldStep>({
        name: 'job-story-steps',
        text: `select ${stepColumns} from ${stepTables}
               where steps.job_id = $1 and (steps.turn, steps.step) > ($2, $3) and ${isJobOf('$1', '$5')}
               order by steps.turn, steps.step limit $4`,
        values: [jobId, after.turn, after.step, limit, organizationId],
      });
      return rows;
    },

    async step({ organizationId }, { jobId, turn, step }) {
      const { rows } = await pool.query<ToldStep>({
        name: 'job-story-step',
        text: `select ${stepColumns} from ${stepTables}
               where steps.job_id = $1 and steps.turn = $2 and steps.step = $3 and ${isJobOf('$1', '$4')}`,
        values: [jobId, turn, step, organizationId],
      });
      return rows[0] ?? null;
    },

    async patchAt({ organizationId }, { jobId, turn, step }) {
      const { rows } = await pool.query<{ patch: string; isRemoved: boolean }>({
        name: 'job-story-patch',
        text: `
          select patch, removed_at is not null as "isRemoved" from job_snapshots where job_id = $1 and ${isJobOf('$1', '$4')} and tree = (
            select tree from job_steps
            where job_id = $1 and (turn, step) <= ($2, $3) and tree is not null order by turn desc, step desc limit 1)`,
        values: [jobId, turn, step, organizationId],
      });
      if (rows[0]?.isRemoved === true) throw new SnapshotRemovedError();
      return rows[0]?.patch ?? null;
    },

    async latestPatch({ organizationId }, jobId) {
      const { rows } = await pool.query<{ patch: string }>(
        `select patch from job_snapshots
         where ${ofBase} and patch <> '' and tree = (${newestTree}) and ${isJobOf('$1', '$2')}`,
        [jobId, organizationId],
      );
      return rows[0]?.patch ?? null;
    },

    async treesAround({ organizationId }, { jobId, turn, step }) {
      const { rows } = await pool.query<TreesAround>({
        name: 'job-story-trees',
        text: `
          select steps.tree is not null and steps.tree is distinct from earlier.tree as differ,
                 earlier.tree as before, steps.tree as after
          from job_steps as steps left join lateral (${earlierTree}) as earlier on true
          where steps.job_id = $1 and steps.turn = $2 and steps.step = $3 and ${isJobOf('$1', '$4')}`,
        values: [jobId, turn, step, organizationId],
      });
      return rows[0] ?? null;
    },

    async tree({ organizationId }, { jobId, tree }) {
      const { rows } = await pool.query<ToldTree & { isRemoved: boolean }>({
        name: 'job-story-tree',
        text: `select base_commit as "baseCommit", patch, removed_at is not null as "isRemoved" from job_snapshots where job_id = $1 and tree = $2 and ${isJobOf('$1', '$3')}`,
        values: [jobId, tree, organizationId],
      });
      const [told] = rows;
      if (told === undefined) return null;
      if (told.isRemoved) throw new SnapshotRemovedError();
      return { baseCommit: told.baseCommit, patch: told.patch };
    },
  };
}
