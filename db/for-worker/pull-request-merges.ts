import type { Pool, QueryConfig, QueryResultRow } from 'pg';
import type { Owner } from '../caller.ts';
import { withTransaction } from '../pool.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson } from '../stored-text.ts';
import type { JobRow } from '../jobs/jobs.ts';
import {
  openerFirst,
  type Mergeability,
  type MergeOptions,
  type PullRequestRow,
} from '../pull-requests/pull-requests.ts';

/** The owner is that of the job it came from. */
export type MergeWork = CheckWork & MergeOptions & Pick<PullRequestRow, 'number' | 'title' | 'createdAt'>;

/** A pull request that may be merged. */
export interface CheckWork extends Owner, Pick<PullRequestRow, 'id' | 'repository' | 'head' | 'base'> {
  job: RepositoryUser;
  /** Its number on another forge; null on the local one. */
  forgeId: string | null;
  /** The last commit of the branch: the one seen by the person who wants it merged, or the one pushed last; null before a push. */
  headCommit: string | null;
}

/** A job, for its access to the repository. */
type RepositoryUser = Pick<JobRow, 'id' | 'organizationId' | 'projectId' | 'repository'>;

/** Result of a check, with the state of a pull request that is not on the local forge. */
export interface CheckResult extends Pick<Mergeability, 'problem' | 'cause' | 'conflicts'> {
  pullRequest?: Pick<PullRequestRow, 'state' | 'draft'>;
}

/** Columns of a CheckWork, of the rows `pull_requests` and `due`. */
const workColumns = `
  pull_requests.id, due.job ->> 'organizationId' as "organizationId", pull_requests.repository, head, base, due.job,
  case when job_id is not null then number::text end as "forgeId"`;

/** Selects the next due pull request with its job, of an organization for which no worker does the same. */
const nextDue = (work: 'merge' | 'check', where: string) => `
  select pull_requests.id, pull_requests.head_commit,
         jsonb_build_object('id', jobs.id, 'organizationId', jobs.organization_id, 'projectId', project_id,
                            'repository', jobs.repository) as job
  from pull_requests join jobs on jobs.id = opened_by
  where ${work}_requested_at is not null and ${where}
    and coalesce(${work}_claimed_at, '-infinity') < now() - interval '1 minute'
    and not exists (
      select from pull_requests as held join jobs as opener on opener.id = held.opened_by
      where held.${work}_requested_at is not null and held.${work}_claimed_at >= now() - interval '1 minute'
        and opener.organization_id = jobs.organization_id
    )
  order by ${work}_requested_at limit 1 for update of pull_requests skip locked`;

export type PullRequestMergeStore = ReturnType<typeof createPullRequestMergeStore>;

/** Stores merges of pull requests. Their result is written into the job at once. */
export function createPullRequestMergeStore(pool: Pool) {
  const claim = <Work extends QueryResultRow>(statement: QueryConfig): Promise<Work | null> =>
    withTransaction(pool, async (client) => {
      // two claims at once would not see each other
      await client.query(`select pg_advisory_xact_lock(hashtextextended('merges', 0))`);
      const { rows } = await client.query<Work>(statement);
      return rows[0] ?? null;
    });

  return {
    /**
     * Claims a merge that no worker holds, one of an organization at a time; one whose worker was killed is claimed again
     * after a minute.
     */
    claimMerge: () =>
      claim<MergeWork>({
        name: 'claim-merge',
        text: `
          with due as materialized (${nextDue('merge', "state = 'open'")})
          update pull_requests set merge_claimed_at = now() from due where pull_requests.id = due.id
          returning ${workColumns}, coalesce(merge_head, due.head_commit) as "headCommit", number, title, created_at as "createdAt", merge_method as method, deletes_branch as "deletesBranch"`,
      }),

    /** Reports whether the merge is still to be done. */
    async isRequested(id: string): Promise<boolean> {
      const { rowCount } = await pool.query(
        `select from pull_requests where id = $1 and state = 'open' and merge_requested_at is not null`,
        [id],
      );
      return rowCount === 1;
    },

    async merged(id: string, commit: string | null): Promise<void> {
      const { rows } = await pool.query<{ id: string }>(
        `with ${openerFirst}, merged as (
           update pull_requests
           set state = 'merged', merge_commit = $2, merge_requested_at = null, merge_claimed_at = null, merge_problem = null,
               updated_at = now()
           from opener where pull_requests.id = $1 and state = 'open' returning pull_requests.id
         )
         update jobs set pr_state = 'merged' from merged where pull_request_of(jobs.id, pr_id) = merged.id
         returning jobs.id`,
        [id, commit],
      );
      for (const job of rows) wakeWatchers(pool, job.id);
    },

    async refused(id: string, problem: string): Promise<void> {
      await pool.query(
        `update pull_requests
         set merge_requested_at = null, merge_claimed_at = null, merge_problem = $2, updated_at = now()
         where id = $1 and state = 'open'`,
        [id, problem],
      );
    },

    /** Claims a check, as `claimMerge` claims a merge. */
    claimCheck: () =>
      claim<CheckWork>({
        name: 'claim-check',
        text: `
          with due as materialized (${nextDue('check', 'true')})
          update pull_requests set check_claimed_at = now() from due where pull_requests.id = due.id
          returning ${workColumns}, due.head_commit as "headCommit"`,
      }),

    async checked(id: string, { problem, cause = null, conflicts, pullRequest }: CheckResult): Promise<void> {
      const { rows } = await pool.query<{ id: string }>(
        `with ${openerFirst}, checked as (
           update pull_requests
           set check_requested_at = null, check_claimed_at = null, draft = coalesce($5, draft),
               state = case when state = 'merged' then state else coalesce($4, state) end,
               mergeability = jsonb_build_object('problem', $2::text, 'cause', $6::text, 'conflicts', $3::jsonb, 'checkedAt', now())
           from opener where pull_requests.id = $1 returning pull_requests.id, state, draft
         )
         update jobs set pr_state = checked.state, pr_draft = checked.draft, updated_at = now() from checked
         where $4::text is not null and pull_request_of(jobs.id, pr_id) = checked.id and pr_state is distinct from 'merged'
           and (pr_state, pr_draft) is distinct from (checked.state, checked.draft)
         returning jobs.id`,
        [id, problem, toStoredJson(conflicts), pullRequest?.state ?? null, pullRequest?.draft ?? null, cause],
      );
      for (const job of rows) wakeWatchers(pool, job.id);
    },
  };
}
