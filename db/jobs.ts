import type { Pool } from 'pg';
import type { JobCheck } from '../workflows/contract/agent-job.ts';
import type { JobPhase, JobStatus, StepRef, TokenUsage } from '../workflows/contract/job.ts';
import type { PullRequestState } from './worker/job-branches.ts';
import { createByIdLoader } from './by-id-loader.ts';
import { canBeId } from './ids.ts';
import { findJobs, insertJob, jobColumns, listJobs, listPrompts, turnUsage } from './job-statements.ts';
import { createJobWrites, type PublishedJob, type TurnSummary } from './worker/job-writes.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';
import { toStoredText } from './stored-text.ts';

export { InvalidCursorError } from './page-cursor.ts';

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
  model: string;
  draft: boolean;
  title: string | null;
  message: string | null;
  branch: string | null;
  headTree: string | null;
  headCommit: string | null;
  prId: string | null;
  prLink: string | null;
  /** What the pull request was when somebody looked last. */
  prState: PullRequestState | null;
  prDraft: boolean | null;
  /** What the last turn left undone, in a sentence; null: nothing. */
  incomplete: string | null;
  /** The project's check command on what was published last. */
  check: JobCheck | null;
  /** Messages that no call of the model has read yet. */
  waitingMessages: number;
  steps: number;
  inputTokens: number;
  outputTokens: number;
  /** In millionths of a US dollar; null once a call of the model had no known price. */
  costMicros: number | null;
  failureCategory: string | null;
  /** The step of another job that this one goes on from. */
  forkedFrom: StepRef | null;
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  archivedAt: Date | null;
}

/** What begins a turn (step 0), or what a person said meanwhile. */
export interface Prompt {
  turn: number;
  /** The step whose call of the model is the first to read it; null when none has. */
  step: number | null;
  prompt: string;
}

export interface NewJob {
  id: string;
  projectId: string;
  organizationId: string;
  prompt: string;
  repository: string;
  requestedRef: string | null;
  model: string;
  draft: boolean;
  /** Both or none: the client's key, and the hash of the body it came with. */
  idempotency: { key: string; requestHash: string } | null;
}

/** `replayed`: the same key and body came before. `conflict`: the same key with another body. */
export type CreatedJob = { kind: 'created' | 'replayed'; job: JobRow } | { kind: 'conflict' };

export interface JobPage {
  jobs: JobRow[];
  nextCursor: string | null;
}

export interface JobStore {
  /** Writes the job, its first turn and its outbox row in one transaction. */
  create(job: NewJob): Promise<CreatedJob>;
  /** One indexed read; lookups of one event-loop turn share one query. Null when unknown or of another project. */
  find(projectId: string, jobId: string): Promise<JobRow | null>;
  /** For the worker, which knows only the id. */
  get(jobId: string): Promise<JobRow | null>;
  /** Newest first. `cursor` is what the page before gave; a malformed one throws `InvalidCursorError`. */
  list(projectId: string, query: { status?: JobStatus; limit: number; cursor?: string }): Promise<JobPage>;
  promptOf(jobId: string, turn: number): Promise<string | null>;
  turnBeganAt(jobId: string, turn: number): Promise<Date | null>;
  /** What a job's turns up to and with `turn` were asked, oldest first. */
  prompts(jobId: string, turn: number): Promise<Prompt[]>;
  /** Each of these writes only while the job is active and `turn` is its newest; false says it was not. */
  setPhase(ref: { jobId: string; turn: number; phase: JobPhase }): Promise<boolean>;
  setBase(ref: { jobId: string; turn: number; baseBranch: string; baseCommit: string }): Promise<boolean>;
  setSummary(ref: TurnSummary): Promise<boolean>;
  setPublished(ref: PublishedJob): Promise<boolean>;
  /** The terminal write: completed and failed never swap, and a job does not complete while a message waits. `message` replaces the job's message when given. */
  finish(ref: {
    jobId: string;
    turn: number;
    status: 'completed' | 'failed';
    failureCategory: string | null;
    message?: string;
  }): Promise<boolean>;
  /** What a turn has used so far. */
  usage(jobId: string, turn: number): Promise<TurnUsage>;
}

export interface TurnUsage extends TokenUsage {
  steps: number;
  /** Null when a call of the turn had no known price. */
  costMicros: number | null;
}

/** Jobs, and the turns they are worked on in. */
export function createJobStore(pool: Pool): JobStore {
  const loader = createByIdLoader(async (ids) => {
    const { rows } = await pool.query<JobRow>({ ...findJobs, values: [ids] });
    return rows;
  });

  async function create(job: NewJob): Promise<CreatedJob> {
    const { id, projectId, organizationId, prompt, repository, requestedRef, model, draft, idempotency } = job;
    const { rows } = await pool.query<JobRow>({
      ...insertJob,
      values: [
        id,
        projectId,
        organizationId,
        repository,
        requestedRef,
        model,
        draft,
        idempotency?.key ?? null,
        idempotency?.requestHash ?? null,
        toStoredText(prompt),
      ],
    });
    const [created] = rows;
    if (created !== undefined) return { kind: 'created', job: created };
    return replay(job);
  }

  /** The insert waited for whoever holds the key, so that job is visible by now. */
  async function replay({ projectId, idempotency }: NewJob): Promise<CreatedJob> {
    const { rows } = await pool.query<JobRow & { sameRequest: boolean }>(
      `select ${jobColumns}, request_hash is not distinct from $3 as "sameRequest"
       from jobs where project_id = $1 and idempotency_key = $2`,
      [projectId, idempotency?.key ?? null, idempotency?.requestHash ?? null],
    );
    const [found] = rows;
    if (found === undefined) throw new Error('A job was neither written nor found under its idempotency key.');
    const { sameRequest, ...job } = found;
    return sameRequest ? { kind: 'replayed', job } : { kind: 'conflict' };
  }

  function get(jobId: string): Promise<JobRow | null> {
    return canBeId(jobId) ? loader.load(jobId) : Promise.resolve(null);
  }

  async function find(projectId: string, jobId: string): Promise<JobRow | null> {
    const job = await get(jobId);
    return job?.projectId === projectId ? job : null;
  }

  async function list(
    projectId: string,
    query: { status?: JobStatus; limit: number; cursor?: string },
  ): Promise<JobPage> {
    const after = query.cursor === undefined ? null : decodeCursor(query.cursor);
    if (!canBeId(projectId)) return { jobs: [], nextCursor: null };
    const { rows } = await pool.query<JobRow & { createdMicros: string }>(listJobs, [
      projectId,
      query.status ?? null,
      after?.createdMicros ?? null,
      after?.id ?? null,
      query.limit + 1,
    ]);
    const page = rows.slice(0, query.limit);
    const last = rows.length > query.limit ? page.at(-1) : undefined;
    return {
      jobs: page.map(withoutCursor),
      nextCursor: last === undefined ? null : encodeCursor(last),
    };
  }

  async function prompts(jobId: string, turn: number): Promise<Prompt[]> {
    const { rows } = await pool.query<Prompt>({ ...listPrompts, values: [jobId, turn] });
    return rows;
  }

  async function promptOf(jobId: string, turn: number): Promise<string | null> {
    const { rows } = await pool.query<{ prompt: string }>(
      'select prompt from job_turns where job_id = $1 and turn = $2',
      [jobId, turn],
    );
    return rows[0]?.prompt ?? null;
  }

  async function turnBeganAt(jobId: string, turn: number): Promise<Date | null> {
    const { rows } = await pool.query<{ createdAt: Date }>(
      'select created_at as "createdAt" from job_turns where job_id = $1 and turn = $2',
      [jobId, turn],
    );
    return rows[0]?.createdAt ?? null;
  }

  async function usage(jobId: string, turn: number): Promise<TurnUsage> {
    const { rows } = await pool.query<TurnUsage>(turnUsage, [jobId, turn]);
    return rows[0] ?? { steps: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };
  }

  return { create, find, get, list, promptOf, turnBeganAt, prompts, usage, ...createJobWrites(pool) };
}

function withoutCursor(row: JobRow & { createdMicros: string }): JobRow {
  const { createdMicros: _, ...job } = row;
  return job;
}
