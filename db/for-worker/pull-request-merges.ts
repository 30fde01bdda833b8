import type { Pool } from 'pg';
import type { Owner } from '../caller.ts';
import { toStoredJson } from '../stored-text.ts';
import type { Mergeability, MergeWish, PullRequestRow } from '../pull-requests/pull-requests.ts';

/** The owner is that of the job it came from. */
export type MergeWork = CheckWork & MergeWish & Pick<PullRequestRow, 'number' | 'title' | 'createdAt'>;

/** A pull request that may be merged. */
export type CheckWork = Owner & Pick<PullRequestRow, 'id' | 'repository' | 'head' | 'base'>;

export interface PullRequestMergeStore {
  /** Claims a merge that no worker holds; one whose worker was killed is claimed again after a minute. */
  claimMerge(): Promise<MergeWork | null>;
  /** Reports whether the merge is still to be done. */
  isRequested(id: string): Promise<boolean>;
  merged(id: string, commit: string): Promise<void>;
  refused(id: string, problem: string): Promise<void>;
  /** Claims a check that no worker holds; one whose worker was killed is claimed again after a minute. */
  claimCheck(): Promise<CheckWork | null>;
  checked(id: string, result: Pick<Mergeability, 'problem' | 'conflicts'>): Promise<void>;
}

/** Stores merges of pull requests of the local forge. Their result is written into the job at once. */
export function createPullRequestMergeStore(pool: Pool): PullRequestMergeStore {
  return {
    async claimMerge() {
      const { rows } = await pool.query<MergeWork>({
        name: 'claim-merge',
        text: `
          with due as materialized (
            select pull_requests.id, jobs.organization_id
            from pull_requests join jobs on jobs.pr_id = pull_requests.id
            where merge_requested_at is not null and state = 'open'
              and coalesce(merge_claimed_at, '-infinity') < now() - interval '1 minute'
            order by merge_requested_at limit 1 for update of pull_requests skip locked
          )
          update pull_requests set merge_claimed_at = now() from due where pull_requests.id = due.id
          returning pull_requests.id, organization_id as "organizationId", repository, number, head, base, title, created_at as "createdAt",
                    merge_method as method, deletes_branch as "deletesBranch"`,
      });
      return rows[0] ?? null;
    },

    async isRequested(id) {
      const { rowCount } = await pool.query(
        `select from pull_requests where id = $1 and state = 'open' and merge_requested_at is not null`,
        [id],
      );
      return rowCount === 1;
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

    async claimCheck() {
      const { rows } = await pool.query<CheckWork>({
        name: 'claim-check',
        text: `
          with due as materialized (
            select pull_requests.id, jobs.organization_id
            from pull_requests join jobs on jobs.pr_id = pull_requests.id
            where check_requested_at is not null and coalesce(check_claimed_at, '-infinity') < now() - interval '1 minute'
            order by check_requested_at limit 1 for update of pull_requests skip locked
          )
          update pull_requests set check_claimed_at = now() from due where pull_requests.id = due.id
          returning pull_requests.id, organization_id as "organizationId", repository, head, base`,
      });
      return rows[0] ?? null;
    },

    async checked(id, { problem, conflicts }) {
      await pool.query(
        `update pull_requests
         set check_requested_at = null, check_claimed_at = null,
             mergeability = jsonb_build_object('problem', $2::text, 'conflicts', $3::jsonb, 'checkedAt', now())
         where id = $1`,
        [id, problem, toStoredJson(conflicts)],
      );
    },
  };
}
