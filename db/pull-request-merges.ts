import type { Pool } from 'pg';
import type { PullRequestRow } from './pull-requests.ts';

export interface MergeState {
  /** Whether a worker has still to merge it. */
  isMerging: boolean;
  /** Why the last try could not be done, in a sentence. */
  problem: string | null;
  commit: string | null;
}

/** The job that a pull request came from, with a commit for each turn that pushed one. */
export interface PullRequestJob {
  id: string;
  projectId: string;
  organizationId: string;
  /** The commit the job began at. */
  baseCommit: string | null;
  headTree: string | null;
  commits: { turn: number; commit: string; prompt: string; createdAt: string }[];
}

export type MergeWork = Pick<PullRequestRow, 'id' | 'repository' | 'number' | 'head' | 'base' | 'title' | 'createdAt'>;

export interface PullRequestMergeStore {
  mergeState(id: string): Promise<MergeState>;
  jobOf(id: string): Promise<PullRequestJob | null>;
  /** Asks the workers to merge. False when it is not open, or still a draft. */
  requestMerge(id: string): Promise<boolean>;
  /** Takes a merge that nobody works on; one whose worker was killed is taken again after a minute. */
  claimMerge(): Promise<MergeWork | null>;
  merged(id: string, commit: string): Promise<void>;
  refused(id: string, problem: string): Promise<void>;
  /** False when it is not open, or being merged. */
  close(id: string): Promise<boolean>;
}

/** Merging and closing pull requests of the local forge. What becomes of one is written into its job at once. */
export function createPullRequestMergeStore(pool: Pool): PullRequestMergeStore {
  return {
    async mergeState(id) {
      const { rows } = await pool.query<MergeState>(
        `select merge_requested_at is not null and state = 'open' as "isMerging", merge_problem as problem,
                merge_commit as commit
         from pull_requests where id = $1`,
        [id],
      );
      return rows[0] ?? { isMerging: false, problem: null, commit: null };
    },

    async jobOf(id) {
      const { rows } = await pool.query<PullRequestJob>(
        `select jobs.id, project_id as "projectId", organization_id as "organizationId", base_commit as "baseCommit",
                head_tree as "headTree", coalesce((
                  select jsonb_agg(jsonb_build_object('turn', turns.turn, 'commit', effects.result ->> 'commit',
                                                      'prompt', left(turns.prompt, 200), 'createdAt', turns.created_at)
                                   order by turns.turn)
                  from job_effects as effects join job_turns as turns using (job_id, turn)
                  where effects.job_id = jobs.id and effects.effect = 'push' and effects.result ->> 'commit' is not null
                ), '[]') as commits
         from jobs where pr_id = $1`,
        [id],
      );
      return rows[0] ?? null;
    },

    async requestMerge(id) {
      const { rowCount } = await pool.query(
        `update pull_requests
         set merge_requested_at = coalesce(merge_requested_at, now()), merge_problem = null
         where id = $1 and state = 'open' and not draft`,
        [id],
      );
      return rowCount === 1;
    },

    async claimMerge() {
      const { rows } = await pool.query<MergeWork>({
        name: 'claim-merge',
        text: `
          with due as materialized (
            select id from pull_requests
            where merge_requested_at is not null and state = 'open'
              and coalesce(merge_claimed_at, '-infinity') < now() - interval '1 minute'
            order by merge_requested_at limit 1 for update skip locked
          )
          update pull_requests set merge_claimed_at = now() from due where pull_requests.id = due.id
          returning pull_requests.id, repository, number, head, base, title, created_at as "createdAt"`,
      });
      return rows[0] ?? null;
    },

    async merged(id, commit) {
      await pool.query(
        `with merged as (
           update pull_requests
           set state = 'merged', merge_commit = $2, merge_requested_at = null, merge_claimed_at = null, merge_problem = null,
               updated_at = now()
           where id = $1 and state = 'open' returning id
         )
         update jobs set pr_state = 'merged' from merged where jobs.pr_id = merged.id`,
        [id, commit],
      );
    },

    async refused(id, problem) {
      await pool.query(
        `update pull_requests
         set merge_requested_at = null, merge_claimed_at = null, merge_problem = $2, updated_at = now()
         where id = $1 and state = 'open'`,
        [id, problem],
      );
    },

    async close(id) {
      const { rowCount } = await pool.query(
        `with closed as (
           update pull_requests set state = 'closed', updated_at = now()
           where id = $1 and state = 'open' and merge_requested_at is null returning id
         ), told as (
           update jobs set pr_state = 'closed' from closed where jobs.pr_id = closed.id
         )
         select from closed`,
        [id],
      );
      return rowCount === 1;
    },
  };
}
