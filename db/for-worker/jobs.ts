import type { Pool } from 'pg';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import { canBeId } from '../ids.ts';
import { jobColumns, listPrompts, turnUsage } from '../jobs/job-statements.ts';
import type { ImageRef } from '../jobs/job-images.ts';
import type { JobRow } from '../jobs/jobs.ts';
import { createJobWrites, type PublishedJob } from './job-writes.ts';

/** The prompt of a turn (step 0), or a message sent during it. */
export interface Prompt {
  turn: number;
  /** The step whose call of the model is the first to read it; null when none has. */
  step: number | null;
  prompt: string;
  /** None by default. */
  images?: ImageRef[];
}

export interface TurnUsage extends TokenUsage {
  steps: number;
  /** Null when a call of the turn had no known price. */
  costMicros: number | null;
}

export type WorkerJobStore = ReturnType<typeof createWorkerJobStore>;

/** Creates the worker's store of jobs, which finds them by id in any organization. */
export function createWorkerJobStore(pool: Pool) {
  async function get(jobId: string): Promise<JobRow | null> {
    if (!canBeId(jobId)) return null;
    const { rows } = await pool.query<JobRow>({
      name: 'get-job',
      text: `select ${jobColumns} from jobs where id = $1`,
      values: [jobId],
    });
    return rows[0] ?? null;
  }

  /** Returns the prompts of a job's turns up to and including `turn`, oldest first. */
  async function prompts(jobId: string, turn: number): Promise<Prompt[]> {
    const { rows } = await pool.query<Prompt>({ ...listPrompts, values: [jobId, turn] });
    return rows;
  }

  /** Returns the text that `setPublished` stored last for the job's newest pull request; null when there is none. */
  async function publishedText(jobId: string): Promise<PublishedJob['prText'] | null> {
    const { rows } = await pool.query<PublishedJob['prText']>(
      // rows that a migration filled in have no body
      `select title, body from pull_requests
       where id = (select pull_request_of(id, pr_id) from jobs where id = $1) and body <> ''`,
      [jobId],
    );
    return rows[0] ?? null;
  }

  async function turnStartedAt(jobId: string, turn: number): Promise<Date | null> {
    const { rows } = await pool.query<{ createdAt: Date }>(
      'select created_at as "createdAt" from job_turns where job_id = $1 and turn = $2',
      [jobId, turn],
    );
    return rows[0]?.createdAt ?? null;
  }

  /** Returns the usage of a turn so far. */
  async function usage(jobId: string, turn: number): Promise<TurnUsage> {
    const { rows } = await pool.query<TurnUsage>(turnUsage, [jobId, turn]);
    return rows[0] ?? { steps: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 };
  }

  return { get, turnStartedAt, prompts, usage, publishedText, ...createJobWrites(pool) };
}
