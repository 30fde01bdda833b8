import type { Pool, PoolClient } from 'pg';
import type { ReasoningEffort } from '../../lib/inputs/model-choice.ts';
import type { JobCheck } from './agent-job.ts';
import type { JobPhase, JobStatus, StepRef } from '../../workflows/contract/job.ts';
import type { PullRequestState } from '../for-worker/job-branches.ts';
import type { Actor } from '../organizations/actors.ts';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { createJobFinder } from './find-job.ts';
import { insertJob, jobColumns, newestJobs } from './job-statements.ts';
import { decodeCursor, pageOf } from '../page-cursor.ts';
import { withTransaction } from '../pool.ts';
import { takeAllowance, type RateLimitAnswer, type RateLimitCounter } from '../operations/rate-limits.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';
import { refOf, writeImages, type NamedImage } from './job-images.ts';
import { wakeWatchers } from './wake-watchers.ts';

export interface JobRow {
  id: string;
  projectId: string;
  organizationId: string;
  status: JobStatus;
  phase: JobPhase | null;
  turn: number;
  repository: string;
  requestedRef: string | null;
  baseBranch: string | null;
  baseCommit: string | null;
  /** The base commit before a merge of the base branch into the job's tree that has not been published; null without one. */
  mergedFrom: string | null;
  model: string;
  /** Fallback models, in the order in which they are used. */
  fallbackModels: string[];
  /** Null for the model's default. */
  reasoningEffort: ReasoningEffort | null;
  /** Limit of one answer, in tokens; null for the model's own. */
  maxOutputTokens: number | null;
  draft: boolean;
  title: string | null;
  message: string | null;
  branch: string | null;
  headTree: string | null;
  headCommit: string | null;
  /** Its id on the forge. */
  prId: string | null;
  /** The id of its pull request in the API. */
  pullRequestId: string | null;
  /** The number of its pull request in the repository. */
  pullRequestNumber: number | null;
  prLink: string | null;
  /** State of the pull request at the last check. */
  prState: PullRequestState | null;
  prDraft: boolean | null;
  /** A sentence that says what the last turn left incomplete; null if nothing. */
  incomplete: string | null;
  /** The project's check command on what was published last. */
  check: JobCheck | null;
  /** Number of messages that no call of the model has read yet. */
  waitingMessages: number;
  steps: number;
  inputTokens: number;
  /** Of the input, what providers read from their caches; null for a job of an earlier version. */
  cachedTokens: number | null;
  /** Of the input, what providers wrote to their caches; null for a job of an earlier version. */
  cacheWriteTokens: number | null;
  outputTokens: number;
  /** In millionths of a US dollar; null once a call of the model had no known price. */
  costMicros: number | null;
  failureCategory: string | null;
  /** Whether the job only plans until a person approves its plan. */
  planReview: boolean;
  /** Whether the agent may ask a person questions. */
  mayAsk: boolean;
  /** The turn that the approval of the plan started; null before. */
  approvedTurn: number | null;
  /** The newest plan, in Markdown. */
  plan: string | null;
  /** The question that waits for an answer; null when none does. */
  question: Question | null;
  waitSince: Date | null;
  /** Deadline of the person who is waited for. */
  waitUntil: Date | null;
  /** Who started the job, while it waits; null when the audit log does not have it. */
  waitsFor: Actor | null;
  /** The step of another job that this one was forked from. */
  forkedFrom: StepRef | null;
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  archivedAt: Date | null;
}

export const maxQuestionChoices = 6;

/** A question of the agent to a person. */
export interface Question {
  text: string;
  /** Suggested answers; empty for none. */
  choices: string[];
}

/** Reports whether the job's turns only plan, because its plan is not approved yet. */
export function isPlanning({ planReview, approvedTurn }: Pick<JobRow, 'planReview' | 'approvedTurn'>): boolean {
  return planReview && approvedTurn === null;
}

export interface NewJob {
  id: string;
  projectId: string;
  prompt: string;
  /** Images of the prompt; none by default. */
  images?: readonly NamedImage[];
  repository: string;
  requestedRef: string | null;
  model: string;
  /** None of these by default. */
  fallbackModels?: string[];
  reasoningEffort?: ReasoningEffort | null;
  maxOutputTokens?: number | null;
  draft: boolean;
  /** Neither by default. */
  planReview?: boolean;
  mayAsk?: boolean;
  idempotency: Idempotency | null;
  /** Counter of the job; without it there is no limit. */
  counter?: RateLimitCounter;
}

/** The client's idempotency key, and the hash of the body it came with. */
export interface Idempotency {
  key: string;
  requestHash: string;
}

/** `replayed`: a repetition with the same key and body. `conflict`: the same key with another body. */
export type EarlierJob = { kind: 'replayed'; job: JobRow } | { kind: 'conflict' };

/** `unknown`: no such project. `allowance` is what the job's counter has left. */
export type CreatedJob =
  | { kind: 'created'; job: JobRow; allowance: RateLimitAnswer | null }
  | EarlierJob
  | { kind: 'unknown' };

interface JobPage {
  jobs: JobRow[];
  nextCursor: string | null;
}

export type JobStore = ReturnType<typeof createJobStore>;

/** Creates the store of an organization's jobs. */
export function createJobStore(pool: Pool) {
  /** Writes the job, its first turn and its outbox row in one transaction. Throws AllowanceError. */
  async function create(caller: Caller, job: NewJob): Promise<CreatedJob> {
    const created = await withTransaction(pool, async (client) => {
      const written = await writeJob(client, caller, job);
      if (written.kind === 'created') {
        const details = { projectId: job.projectId };
        await writeAudit(client, caller, { action: 'job.create', subject: job.id, details });
      }
      return written;
    });
    if (created.kind === 'created') wakeWatchers(pool, job.id);
    return created;
  }

  /** Newest first. `cursor` comes from the previous page; a malformed one throws `InvalidCursorError`. */
  async function list(
    { organizationId }: Owner,
    projectId: string,
    query: { status?: JobStatus; limit: number; cursor?: string },
  ): Promise<JobPage> {
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    if (!canBeId(projectId)) return { jobs: [], nextCursor: null };
    const { rows } = await pool.query<JobRow & { createdMicros: string }>(
      `select ${jobColumns}, (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
       from (${newestJobs(query.limit + 1)}) as jobs order by created_at desc, id desc`,
      [
        organizationId,
        query.status === undefined ? null : [query.status],
        projectId,
        after?.createdMicros ?? null,
        after?.id ?? null,
      ],
    );
    const page = pageOf(rows, query.limit);
    return { jobs: page.rows, nextCursor: page.nextCursor };
  }

  return {
    create,
    /** One indexed read; lookups of one event-loop turn share one query. Null when unknown or of another project. */
    find: createJobFinder(pool),
    list,
    /** Returns what the project's key was used for; null when it is new. */
    findEarlier: (owner: Owner, projectId: string, idempotency: Idempotency | null): Promise<EarlierJob | null> =>
      earlierJob(pool, owner, projectId, idempotency),
  };
}

/**
 * Writes a job in the transaction of the change that requests it, which writes the audit entry. Throws AllowanceError.
 */
export async function writeJob(client: PoolClient, owner: Owner, job: NewJob): Promise<CreatedJob> {
  const { id, projectId, prompt, images = [], repository, requestedRef, model, draft, idempotency } = job;
  const { rows } = await client.query<JobRow>({
    ...insertJob,
    values: [
      id,
      projectId,
      owner.organizationId,
      repository,
      requestedRef,
      model,
      draft,
      idempotency?.key ?? null,
      idempotency?.requestHash ?? null,
      toStoredText(prompt),
      job.planReview ?? false,
      job.mayAsk ?? false,
      job.fallbackModels ?? [],
      job.reasoningEffort ?? null,
      job.maxOutputTokens ?? null,
      toStoredJson(images.map(refOf)),
    ],
  });
  const [created] = rows;
  // the insert waited for the transaction with the key, so that job is visible now
  if (created === undefined) return (await earlierJob(client, owner, projectId, idempotency)) ?? { kind: 'unknown' };
  await writeImages(client, id, images);
  const allowance = job.counter === undefined ? null : await takeAllowance(client, job.counter);
  return { kind: 'created', job: created, allowance };
}

/** Returns the job that a key of the project was used for. */
export async function earlierJob(
  client: Pool | PoolClient,
  { organizationId }: Owner,
  projectId: string,
  idempotency: Idempotency | null,
): Promise<EarlierJob | null> {
  if (idempotency === null) return null;
  const { rows } = await client.query<JobRow & { sameRequest: boolean }>(
    `select ${jobColumns}, request_hash is not distinct from $4 as "sameRequest"
     from jobs where organization_id = $1 and project_id = $2 and idempotency_key = $3`,
    [organizationId, projectId, idempotency.key, idempotency.requestHash],
  );
  const [found] = rows;
  if (found === undefined) return null;
  const { sameRequest, ...job } = found;
  return sameRequest ? { kind: 'replayed', job } : { kind: 'conflict' };
}
