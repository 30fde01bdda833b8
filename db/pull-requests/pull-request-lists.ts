import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { maxCounted, pullRequestStates, type PullRequestState } from '../jobs/job-states.ts';
import { decodeCursor, pageOf } from '../page-cursor.ts';
import { readWithin } from '../pool.ts';
import type { FoundPullRequest } from './pull-requests.ts';

/** An entry in the list of a job's pull requests. */
export type JobPullRequest = Pick<
  FoundPullRequest,
  'id' | 'number' | 'turn' | 'title' | 'link' | 'draft' | 'state' | 'createdAt'
>;

/** An entry in the list of an organization's pull requests. */
export interface ListedPullRequest extends JobPullRequest {
  job: { id: string; projectId: string };
  /** Size of its change; null when nothing is stored of it. Lines are null if they were not counted. */
  change: { files: number; additions: number | null; deletions: number | null } | null;
}

interface PullRequestListQuery {
  state?: PullRequestState | undefined;
  limit: number;
  cursor?: string | undefined;
}

interface PullRequestCount {
  state: PullRequestState;
  count: number;
  /** There may be more: only a thousand of each state are counted. */
  isLowerBound: boolean;
}

/** Longest list of a job's pull requests. */
export const maxPerJob = 100;

const columns = `
  pulls.id, pulls.number, pulls.opened_in as turn, pulls.title, pulls.link, pulls.draft, pulls.state,
  pulls.created_at as "createdAt"`;

/** A row has no link until its pull request is published. */
const listStatement = `
  select ${columns}, jsonb_build_object('id', jobs.id, 'projectId', project_id) as job,
         (select jsonb_build_object('files', changed_files, 'additions', additions, 'deletions', deletions)
          from job_snapshots where job_id = opened_by and tree = pulls.head_tree) as change,
         (extract(epoch from pulls.created_at) * 1000000)::bigint::text as "createdMicros"
  from (
    select * from pull_requests
    where organization_id = $1 and link is not null and ($2::text is null or state = $2)
      and ($3::bigint is null
           or (created_at, id) < ('epoch'::timestamptz + $3::bigint * interval '1 microsecond', $4::text))
    order by created_at desc, id desc limit $5
  ) as pulls join jobs on jobs.id = opened_by
  order by pulls.created_at desc, pulls.id desc`;

const ofJobStatement = `
  select ${columns} from pull_requests as pulls where opened_by = $1 and organization_id = $2
  order by opened_in desc, id desc limit ${maxPerJob}`;

const countStatement = `
  select wanted.state, counted.count
  from unnest($2::text[]) as wanted (state), lateral (
    select count(*)::integer from (
      select from pull_requests
      where organization_id = $1 and link is not null and pull_requests.state = wanted.state limit ${maxCounted + 1}
    ) as found
  ) as counted`;

/** Lists of the pull requests of an organization's jobs. */
export type PullRequestListStore = ReturnType<typeof createPullRequestListStore>;

/** Creates the lists of pull requests of an organization. */
export function createPullRequestListStore(pool: Pool) {
  return {
    /** Newest first, including the earlier ones of a job. Throws InvalidCursorError. */
    async list(
      { organizationId }: Owner,
      { state, limit, cursor }: PullRequestListQuery,
    ): Promise<{ pullRequests: ListedPullRequest[]; nextCursor: string | null }> {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const values = [organizationId, state ?? null, after?.createdMicros ?? null, after?.id ?? null, limit + 1];
      const { rows } = await readWithin(pool, 'search', (client) =>
        client.query<ListedPullRequest & { createdMicros: string }>(listStatement, values),
      );
      const page = pageOf(rows, limit);
      return { pullRequests: page.rows, nextCursor: page.nextCursor };
    },

    /** Returns the newest ones of a job, newest first. */
    async ofJob({ organizationId }: Owner, jobId: string): Promise<JobPullRequest[]> {
      const { rows } = await pool.query<JobPullRequest>(ofJobStatement, [jobId, organizationId]);
      return rows;
    },

    /** Counts up to a thousand of each state. */
    async count({ organizationId }: Owner): Promise<PullRequestCount[]> {
      const { rows } = await readWithin(pool, 'search', (client) =>
        client.query<{ state: PullRequestState; count: number }>(countStatement, [organizationId, pullRequestStates]),
      );
      return pullRequestStates.map((state) => {
        const count = rows.find((row) => row.state === state)?.count ?? 0;
        return { state, count: Math.min(count, maxCounted), isLowerBound: count > maxCounted };
      });
    },
  };
}
