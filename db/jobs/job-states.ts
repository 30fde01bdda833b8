import type { Pool } from 'pg';
import type { JobStatus } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { readWithin } from '../pool.ts';

/**
 * States of a job as people tell them apart: queued and waiting jobs from running ones, and cancelled from failed ones.
 */
export const jobStates = ['queued', 'running', 'waiting', 'completed', 'failed', 'cancelled', 'archived'] as const;
export type JobState = (typeof jobStates)[number];

/** SQL expression for the state of a job. */
export const stateOf = `
  case when status = 'active' then case when phase in ('queued', 'waiting') then phase else 'running' end
       when status = 'failed' and failure_category = 'cancelled' then 'cancelled'
       else status end`;

const statuses: Record<JobState, JobStatus> = {
  queued: 'active',
  running: 'active',
  waiting: 'active',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'failed',
  archived: 'archived',
};

/** Returns the statuses that jobs in these states have. */
export function statusesOf(states: JobState[]): JobStatus[] {
  return [...new Set(states.map((state) => statuses[state]))];
}

export const pullRequestStates = ['open', 'merged', 'closed'] as const;
export type PullRequestState = (typeof pullRequestStates)[number];
export type PullRequestFilter = PullRequestState | 'any';

/** SQL expression for the state of a job's pull request. */
export const pullRequestStateOf = `coalesce(pr_state, 'open')`;

/** Number of jobs of each status that are counted at most. */
export const maxCounted = 1_000;

interface JobCount {
  state: JobState;
  count: number;
  /** There may be more: not all jobs of the status were counted. */
  isLowerBound: boolean;
}

interface FailureCount {
  /** Category of the failure. */
  category: string;
  state: JobState;
  count: number;
  /** There may be more: not all jobs of the status were counted. */
  isLowerBound: boolean;
}

const newest = (status: string, columns = '') => `
  select ${columns} from jobs
  where organization_id = $1 and status = ${status} and ($2::text is null or project_id = $2)
    and ($3::timestamptz is null or created_at >= $3)
  order by created_at desc, id desc limit ${maxCounted + 1}`;

// states and failures are in no index, so the rows of jobs that can have several are read
const countStatement = `
  select 'completed' as status, 'completed' as state, null as category, count(*)::integer
  from (${newest("'completed'")}) as jobs
  union all
  select status, state, nullif(failure_category, 'cancelled') as category, count(*)::integer
  from unnest(array['active', 'failed', 'archived']) as wanted (status),
       lateral (
         select ${stateOf} as state, failure_category
         from (${newest('wanted.status', 'status, phase, failure_category')}) as jobs
       ) as scanned
  group by status, state, category`;

interface CountedRow {
  status: JobStatus;
  state: JobState;
  category: string | null;
  count: number;
}

function sumOf(rows: { count: number }[]): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}

export type JobCountStore = ReturnType<typeof createJobCountStore>;

/** Creates the counts of an organization's jobs. */
export function createJobCountStore(pool: Pool) {
  return {
    /** Counts the newest jobs of an organization by state, up to a thousand of each status, and by category of failure. */
    async count(
      { organizationId }: Owner,
      { projectId, createdSince }: { projectId?: string; createdSince?: Date },
    ): Promise<{ states: JobCount[]; failures: FailureCount[] }> {
      if (projectId !== undefined && !canBeId(projectId)) return { states: [], failures: [] };
      const values = [organizationId, projectId ?? null, createdSince ?? null];
      const { rows } = await readWithin(pool, 'search', (client) => client.query<CountedRow>(countStatement, values));
      const bounded = (count: number, status: JobStatus) => ({
        count: Math.min(count, maxCounted),
        isLowerBound: sumOf(rows.filter((row) => row.status === status)) > maxCounted,
      });
      return {
        states: jobStates.map((state) => {
          const count = sumOf(rows.filter((row) => row.state === state));
          return { state, ...bounded(count, statuses[state]) };
        }),
        failures: rows.flatMap(({ category, status, state, count }) =>
          category === null ? [] : [{ category, state, ...bounded(count, status) }],
        ),
      };
    },
  };
}
