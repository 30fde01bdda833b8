import type { Pool } from 'pg';
import type { JobPhase, JobStatus, TokenUsage } from '../workflows/contract/job.ts';

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
  steps: number;
  inputTokens: number;
  outputTokens: number;
  failureCategory: string | null;
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  archivedAt: Date | null;
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
  /** Newest first. `cursor` is what the page before gave; null when it is malformed: `InvalidCursorError`. */
  list(projectId: string, query: { status?: JobStatus; limit: number; cursor?: string }): Promise<JobPage>;
  promptOf(jobId: string, turn: number): Promise<string | null>;
  /** The prompts of a job's turns up to and with `turn`, oldest first. */
  prompts(jobId: string, turn: number): Promise<{ turn: number; prompt: string }[]>;
  /** Each of these writes only while the job is active and `turn` is its newest; false says it was not. */
  setPhase(ref: { jobId: string; turn: number; phase: JobPhase }): Promise<boolean>;
  setBase(ref: { jobId: string; turn: number; baseBranch: string; baseCommit: string }): Promise<boolean>;
  /** Counts a step's usage into the job once per step; safe to repeat. */
  countSteps(ref: { jobId: string; turn: number }): Promise<void>;
  setSummary(ref: { jobId: string; turn: number; title: string | null; message: string }): Promise<boolean>;
  setPublished(ref: {
    jobId: string;
    turn: number;
    branch: string;
    headCommit: string;
    headTree: string;
    prId: string;
    prLink: string;
  }): Promise<boolean>;
  /** The terminal write: completed and failed never swap. `message` replaces the job's message when given. */
  finish(ref: {
    jobId: string;
    turn: number;
    status: 'completed' | 'failed';
    failureCategory: string | null;
    message?: string;
  }): Promise<boolean>;
  usage(jobId: string, turn: number): Promise<TokenUsage & { steps: number }>;
}

/** A cursor that no page gave. */
export class InvalidCursorError extends Error {
  override name = 'InvalidCursorError';
}

export declare function createJobStore(pool: Pool): JobStore;
