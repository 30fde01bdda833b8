import type { Pool, PoolClient } from 'pg';
import type { StepRef } from '../../workflows/contract/job.ts';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { messageEvent } from './job-messages.ts';
import { earlierJob, type CreatedJob, type EarlierJob, type Idempotency, type JobRow } from './jobs.ts';
import { changeQuestion, isMergedBy, jobColumns, treeAt, withLineage } from './job-statements.ts';
import { withTransaction } from '../pool.ts';
import { SnapshotRemovedError, TranscriptRemovedError } from './snapshot-removed.ts';
import { takeAllowance, type RateLimitCounter } from '../operations/rate-limits.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { wakeWatchers } from './wake-watchers.ts';

export interface NewFork {
  /** Fields of the new job. */
  id: string;
  /** The job to continue from, and the last step to copy; without a turn, the newest one. */
  from: { jobId: string; turn?: number; step: number };
  /** The models of the new job, in order; null for those of the other one. */
  models: string[] | null;
  /** A message that the first new step reads in addition to the copied conversation. */
  prompt: string | null;
  idempotency: Idempotency | null;
  /** Counter of the new job; without it there is no limit. */
  counter?: RateLimitCounter;
}

/**
 * `unknown`: there is no such job. `no-step`: the turn has no such completed step; `lastStep` is the last completed
 * one, null when there is none. `needs-prompt`: the agent had nothing left to do at that step.
 */
export type Fork =
  | Extract<CreatedJob, { kind: 'created' }>
  | EarlierJob
  | { kind: 'no-step'; turn: number; lastStep: number | null }
  | { kind: 'unknown' | 'needs-prompt' };

interface Source {
  at: StepRef;
  tree: string | null;
  /** The job that has the snapshot of the tree. */
  keeper: string;
}

const isFinished = `response is not null and (tool_results is not null or jsonb_array_length(response -> 'toolCalls') = 0)`;

export type JobForkStore = ReturnType<typeof createJobForkStore>;

/** Creates the store of forks. */
export function createJobForkStore(pool: Pool) {
  /**
   * Creates a job that continues after a step of another one, with its conversation and tree up to there, in one
   * transaction. Throws AllowanceError.
   */
  async function fork(caller: Caller, request: NewFork): Promise<Fork> {
    const forked = await withTransaction(pool, async (client): Promise<Fork> => {
      const { jobId, step } = request.from;
      const job = await readJob(client, caller, jobId);
      if (job === null) return { kind: 'unknown' };
      const at = { jobId, turn: request.from.turn ?? job.turn, step };
      await checkTranscript(client, jobId);
      const problem = await problemWith(client, at, request.prompt);
      if (problem !== null) return problem;
      const tree = await findTree(client, at);
      const source = { at, tree, keeper: await keeperOf(client, at, tree) };
      if (!(await insertJob(client, request, source))) {
        const earlier = await earlierJob(client, caller, job.projectId, request.idempotency);
        // otherwise the other job was deleted since it was read
        return earlier ?? { kind: 'unknown' };
      }
      await copyHistory(client, request.id, source);
      await begin(client, request, at);
      const created = await readJob(client, caller, request.id);
      if (created === null) throw new Error('The job that was just created does not exist.');
      await writeAudit(client, caller, { action: 'job.fork', subject: created.id, details: { from: at } });
      const allowance = request.counter === undefined ? null : await takeAllowance(client, request.counter);
      return { kind: 'created', job: created, allowance };
    });
    if (forked.kind === 'created') wakeWatchers(pool, request.id);
    return forked;
  }

  return { fork };
}

/** Selects the points at which the job and its origins were forked from jobs that were deleted or have lost their snapshots. */
const lostAfter = `
  select from lineage left join jobs as origin on origin.id = lineage.forked_from
  where (origin.id is null or origin.transcript_removed_at is not null) and (lineage.forked_turn, lineage.forked_step)`;

/** Returns the job that has the snapshot of the tree after a step. Throws SnapshotRemovedError when it can no longer be restored. */
async function keeperOf(client: PoolClient, { jobId, turn, step }: StepRef, tree: string | null): Promise<string> {
  if (tree === null) return jobId;
  const { rows } = await client.query<{ id: string; isRemoved: boolean }>(
    `${withLineage} select lineage.id, removed_at is not null as "isRemoved"
     from lineage join job_snapshots as kept on job_id = lineage.id and tree = $2
     order by removed_at is not null, distance limit 1 for share of kept`,
    [jobId, tree],
  );
  const [kept] = rows;
  if (kept?.isRemoved === true) throw new SnapshotRemovedError();
  if (kept !== undefined) return kept.id;
  // the tree of the base commit has none
  const { rowCount } = await client.query(`${withLineage} ${lostAfter} > ($2, $3)`, [jobId, turn, step]);
  if (rowCount !== 0) throw new SnapshotRemovedError();
  return jobId;
}

/** Throws TranscriptRemovedError when the steps are gone. */
async function checkTranscript(client: PoolClient, jobId: string): Promise<void> {
  const { rowCount } = await client.query(
    'select from jobs where id = $1 and transcript_removed_at is not null for share',
    [jobId],
  );
  if (rowCount !== 0) throw new TranscriptRemovedError();
}

async function readJob(client: PoolClient, { organizationId }: Owner, id: string): Promise<JobRow | null> {
  const { rows } = await client.query<JobRow>(`select ${jobColumns} from jobs where id = $1 and organization_id = $2`, [
    id,
    organizationId,
  ]);
  return rows[0] ?? null;
}

async function problemWith(client: PoolClient, at: StepRef, prompt: string | null): Promise<Fork | null> {
  const { rows } = await client.query<{ step: number; calls: number }>(
    `select step, jsonb_array_length(response -> 'toolCalls') as calls
     from job_steps where job_id = $1 and turn = $2 and ${isFinished} order by step`,
    [at.jobId, at.turn],
  );
  const found = rows.find(({ step }) => step === at.step);
  if (found === undefined) return { kind: 'no-step', turn: at.turn, lastStep: rows.at(-1)?.step ?? null };
  // a conversation that ends with the agent's own text cannot be continued
  return found.calls === 0 && prompt === null ? { kind: 'needs-prompt' } : null;
}

async function findTree(client: PoolClient, { jobId, turn, step }: StepRef): Promise<string | null> {
  const { rows } = await client.query<{ tree: string }>(treeAt, [jobId, turn, step]);
  return rows[0]?.tree ?? null;
}

/** False when another job has the idempotency key, or when the job to fork was deleted. */
async function insertJob(client: PoolClient, request: NewFork, { at, tree, keeper }: Source): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into jobs (id, project_id, organization_id, status, phase, turn, repository, requested_ref, base_branch,
                       base_commit, model, fallback_models, reasoning_effort, max_output_tokens, draft,
                       plan_review, may_ask, approved_turn, plan, waiting_messages, forked_from, forked_turn, forked_step,
                       idempotency_key, request_hash)
     select $1, project_id, organization_id, 'active', 'queued', $3, repository, requested_ref, base_branch,
            coalesce(
              -- unless it was merged by then: the tree is the base of that turn
              (select base_commit from job_snapshots as kept
               where job_id = $11 and tree = $5 and not ${isMergedBy({ job: '$2', turn: '$3' })}),
              (select base_commit from job_turns where job_id = $2 and turn <= $3 and base_commit is not null
               order by turn desc limit 1),
              base_commit
            ),
            coalesce($6, model), coalesce($10, fallback_models), reasoning_effort, max_output_tokens, draft, plan_review, may_ask,
            case when approved_turn <= $3 then approved_turn end,
            -- unless it was made later
            case when coalesce(approved_turn, $3) <= $3 and not exists (
              select from job_events
              where job_id = $2 and turn >= $3 and type = 'waiting' and data ->> 'for' = 'approval') then plan end,
            $7, $2, $3, $4, $8, $9
     from jobs where id = $2
     on conflict (project_id, idempotency_key) do nothing`,
    [
      request.id,
      at.jobId,
      at.turn,
      at.step,
      tree,
      request.models?.[0] ?? null,
      request.prompt === null ? 0 : 1,
      request.idempotency?.key ?? null,
      request.idempotency?.requestHash ?? null,
      request.models?.slice(1) ?? null,
      keeper,
    ],
  );
  return rowCount === 1;
}

/** Condition: the tree of a step has a snapshot, or had one that is lost. */
const isKept = `(
  exists (select from lineage join job_snapshots on job_id = lineage.id and job_snapshots.tree = job_steps.tree)
  or exists (${lostAfter} >= (job_steps.turn, job_steps.step)))`;

/** Copies conversation and tree. The other job has paid for the steps, so they cost nothing here. */
async function copyHistory(client: PoolClient, id: string, { at, tree, keeper }: Source): Promise<void> {
  const values = [id, at.jobId, at.turn, at.step];
  const upToStep = '(turn < $3 or (turn = $3 and step <= $4))';
  for (const statement of [
    `insert into job_turns (job_id, turn, prompt, images, status, created_at, ended_at, tree, tree_step, first_tree,
                            base_commit)
     select $1, turn, prompt, images, case when turn = $3 then 'active' else status end,
            case when turn = $3 then now() else created_at end, case when turn = $3 then null else ended_at end,
            case when turn < $3 or tree_step < $4 then tree end, case when turn < $3 or tree_step < $4 then tree_step end,
            first_tree, base_commit
     from job_turns where job_id = $2 and turn <= $3 and $4::integer is not null`,
    `insert into job_messages (job_id, turn, position, prompt, images, step, created_at)
     select $1, turn, position, prompt, images, step, created_at
     from job_messages where job_id = $2 and (turn < $3 or (turn = $3 and step <= $4))`,
    `insert into job_notes (job_id, turn, step, kind, text, created_at)
     select $1, turn, step, kind, text, created_at from job_notes where job_id = $2 and ${upToStep}`,
    `insert into job_compactions (job_id, turn, step, upto_turn, upto_step, summary, ledger, tree, cost_micros, created_at)
     select $1, turn, step, upto_turn, upto_step, summary, ledger, tree, 0, created_at
     from job_compactions where job_id = $2 and ${upToStep}`,
    // the tree of the base commit, which has no snapshot, is left out, because it cannot be told once an earlier job is gone
    `${withLineage}
     insert into job_steps (job_id, turn, step, model, request_hash, tools_hash, response, finish_reason, tool_results, tree, messages,
                            cost_micros, started_at, answered_at, ended_at)
     select $1, turn, step, coalesce(model, (select model from jobs where id = $2)), request_hash, tools_hash, response,
            finish_reason, tool_results, case when ${isKept} then tree end, messages, 0, started_at, answered_at, ended_at
     from job_steps where job_id = $2 and response is not null and ${upToStep}`,
    `insert into job_effects (job_id, turn, effect, result)
     select $1, turn, effect, result
     from job_effects where job_id = $2 and turn <= $3 and effect in ('instructions', 'skills') and $4::integer is not null`,
  ])
    await client.query(statement, values);
  await client.query(
    'insert into job_images (job_id, hash, content) select $1, hash, content from job_images where job_id = $2',
    [id, at.jobId],
  );
  await client.query(
    'insert into job_tools (job_id, hash, definitions) select $1, hash, definitions from job_tools where job_id = $2',
    [id, at.jobId],
  );
  await client.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions)
     select $1, tree, commit, base_commit, pack, patch, changed_files, additions, deletions
     from job_snapshots where job_id = $2 and tree = $3`,
    [id, keeper, tree],
  );
}

/** Result of a question whose answer is the message that a fork of its step begins with. */
const answerFollows = 'The person answers in the next message.';

async function begin(client: PoolClient, { id, prompt }: NewFork, { turn, step }: StepRef): Promise<void> {
  if (prompt !== null) {
    await client.query(
      `insert into job_messages (job_id, turn, position, prompt)
       select $1, $2, coalesce(max(position), 0) + 1, $3 from job_messages where job_id = $1 and turn = $2`,
      [id, turn, toStoredText(prompt)],
    );
    await client.query(changeQuestion, [id, turn, step, toStoredJson({ output: answerFollows })]);
  }
  await client.query('insert into job_outbox (job_id, turn) values ($1, $2)', [id, turn]);
  const messages = prompt === null ? [] : [messageEvent(prompt)];
  const events = toStoredJson([...messages, { type: 'phase', data: { phase: 'queued' } }]);
  await client.query('select append_job_events($1, $2, null, $3)', [id, turn, events]);
}
