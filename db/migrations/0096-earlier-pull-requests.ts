import type { MigrationBuilder } from 'node-pg-migrate';
import { runConcurrently } from '../run-concurrently.ts';

/**
 * Fills in the pull requests that exist: the newest ones from their jobs, earlier ones from what their turns pushed. Jobs are
 * written meanwhile, because it is not in the transaction that has locked their table.
 */
export function up(builder: MigrationBuilder): void {
  runConcurrently(builder, [fillIn]);
}

export const fillIn = `
  with openers as (
    select pulls.id, pulls.job_id, pulls.number, pulls.head, pulls.created_at, jobs.id as job, jobs.organization_id,
           jobs.pr_link, pull_request_of(jobs.id, jobs.pr_id) = pulls.id as is_newest, jobs.head_commit, jobs.head_tree
    from pull_requests as pulls join jobs on jobs.id = coalesce(
      pulls.job_id,
      (select newest.id from jobs as newest where pull_request_of(newest.id, newest.pr_id) = pulls.id order by newest.id limit 1),
      -- a branch is named after the job and, if it is not the first, the turn
      (select named.id from jobs as named
       where named.id = substring(pulls.head from '^docket/(job_\\w+)-') and named.repository = pulls.repository)
    )
  ), opened as (
    select *, lead(opened_in) over (partition by job order by opened_in, id) as next_opened_in
    from (
      select openers.*, greatest(1, case
        -- rows of other forges may be younger than the pull request
        when job_id is not null then (
          select max(turn) from job_turns
          where job_turns.job_id = job and turn::text = substring(head from '^docket/job_\\w+-(\\d{1,6})-'))
        else (
          select max(turn) from job_turns where job_turns.job_id = job and job_turns.created_at <= openers.created_at)
      end) as opened_in
      from openers
    ) as numbered
  ), pushed as (
    select opened.*, last.result
    from opened left join lateral (
      select result from job_effects
      where job_effects.job_id = job and effect = 'push' and result ->> 'commit' is not null
        and job_effects.turn >= opened_in and (next_opened_in is null or job_effects.turn < next_opened_in)
      order by job_effects.turn desc limit 1
    ) as last on true
  )
  update pull_requests
  set organization_id = pushed.organization_id, opened_by = job, opened_in = pushed.opened_in,
      head_commit = coalesce(pull_requests.head_commit, case when is_newest then pushed.head_commit end, result ->> 'commit'),
      head_tree = coalesce(pull_requests.head_tree, case when is_newest then pushed.head_tree end, result ->> 'tree'),
      -- the last part of an address is the id, or the number on another forge
      link = coalesce(pull_requests.link, case when is_newest then pr_link else regexp_replace(
        pr_link, '[^/]+$', case when pushed.job_id is null then pushed.id else pushed.number::text end) end)
  -- what a job has published meanwhile is newer
  from pushed where pull_requests.id = pushed.id`;
