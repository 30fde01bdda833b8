import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { newestActorOf, type Actor } from '../organizations/actors.ts';
import { canBeId } from '../ids.ts';
import type { ForgeKind } from '../organizations/projects.ts';
import { SnapshotRemovedError } from '../jobs/snapshot-removed.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { withTransaction } from '../pool.ts';

export interface PullRequestRow {
  id: string;
  repository: string;
  number: number;
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed' | 'merged';
  createdAt: Date;
  updatedAt: Date;
}

interface MergeState {
  /** Whether a worker has yet to merge it. */
  isMerging: boolean;
  /** Who requested it last in Docket; null when nobody did. */
  requestedBy: Actor | null;
  /** Why the last try failed, as a sentence. */
  problem: string | null;
  commit: string | null;
  /** Whether a worker has yet to check if it can be merged. */
  isChecking: boolean;
  /** Result of the newest check; null before the first one. */
  mergeability: Mergeability | null;
}

/**
 * Causes of a blocked merge: a conflict, a base branch that moved on, failing checks, commits that the job does not know, other
 * rules of the forge such as reviews, or a credential that may not merge. Only the first four can be cleared by the agent.
 */
export const mergeCauses = ['conflict', 'behind', 'checks', 'moved', 'rules', 'access'] as const;
export type MergeCause = (typeof mergeCauses)[number];

/** Result of a check of whether a pull request can be merged. */
export interface Mergeability {
  /** Why it cannot, as a sentence; null if it can. */
  problem: string | null;
  /** Null if nothing is known to block it; absent from checks of an older version. */
  cause?: MergeCause | null;
  /** Files with conflicts. */
  conflicts: string[];
  checkedAt: string;
}

/** How to merge a pull request. */
export interface MergeOptions {
  method: 'merge' | 'squash';
  /** Whether to delete its branch afterwards. */
  deletesBranch: boolean;
}

/** A merge that a person requests, of the commit at the end of the branch that the person saw. */
interface MergeRequest extends MergeOptions {
  /** Null for the last commit that the job has pushed. */
  headCommit: string | null;
}

/** The job that created a pull request, with a commit for each turn that pushed one. */
interface PullRequestJob {
  id: string;
  projectId: string;
  commits: { turn: number; commit: string; prompt: string; createdAt: string }[];
}

export interface FoundPullRequest extends PullRequestRow {
  forge: ForgeKind;
  /** Web address; null before it is published. */
  link: string | null;
  /** The last commit of its branch that is known; null before a push. */
  headCommit: string | null;
  job: PullRequestJob;
  turn: number;
  /** Whether its job has opened no other one since. */
  isNewest: boolean;
  merge: MergeState;
  /** Who closed it in Docket; null when nobody did. */
  closedBy: Actor | null;
}

/** Largest number of commits that a pull request shows. */
export const maxCommits = 100;

export const pullRequestColumns = `
  id, repository, number, head, base, title, body, draft, state, created_at as "createdAt", updated_at as "updatedAt"`;

const ofOwner = 'organization_id = $2';

/** Locks the job of the pull request `$1` first, in the order of the statements that change a job. */
export const openerFirst = `
  opener as materialized (
    select id from jobs where id = (select opened_by from pull_requests where id = $1) for no key update
  )`;

const newest = (action: string) => newestActorOf({ organization: '$2', subject: '$1', action });

/** The turns that pushed to a pull request: from the one that opened it to the one that opened the next. */
const ofItsTurns = `
  turn >= opened_in and turn < coalesce((
    select min(later.opened_in) from pull_requests as later
    where later.opened_by = pull_requests.opened_by and later.opened_in > pull_requests.opened_in
  ), turn + 1)`;

const findStatement = `
  select ${pullRequestColumns}, case when job_id is null then 'local' else opener.forge end as forge, link,
         head_commit as "headCommit", opened_in as turn, opener."isNewest",
         jsonb_build_object('id', opened_by, 'projectId', opener."projectId", 'commits', coalesce((
           select jsonb_agg(jsonb_build_object('turn', turns.turn, 'commit', effects.result ->> 'commit',
                                               'prompt', left(turns.prompt, 200), 'createdAt', turns.created_at)
                            order by turns.turn)
           from (
             select job_id, turn, result from job_effects
             where job_effects.job_id = opened_by and effect = 'push' and result ->> 'commit' is not null and ${ofItsTurns}
             order by turn desc limit ${maxCommits}
           ) as effects join job_turns as turns using (job_id, turn)
         ), '[]')) as job,
         jsonb_build_object(
           'isMerging', merge_requested_at is not null and state = 'open', 'problem', merge_problem, 'commit', merge_commit,
           'requestedBy', ${newest('pull-request.merge')}, 'isChecking', check_requested_at is not null, 'mergeability', mergeability
         ) as merge, case when state = 'closed' then ${newest('pull-request.close')} end as "closedBy"
  from pull_requests cross join lateral (
    select projects.forge, project_id as "projectId", pull_request_of(jobs.id, pr_id) = pull_requests.id as "isNewest"
    from jobs join projects on projects.id = project_id where jobs.id = opened_by
  ) as opener
  where id = $1 and organization_id = $2`;

/** A tree that recurs on a later base commit is stored relative to that commit. */
const patchStatement = `
  select patch, removed_at is not null as "isRemoved"
  from pull_requests join job_snapshots as stored on stored.job_id = opened_by and tree = head_tree
  where id = $1 and organization_id = $2 and (base_commit = coalesce((
    select turns.base_commit from job_turns as turns
    where turns.job_id = opened_by and turns.turn <= opened_in and turns.base_commit is not null
    order by turns.turn desc limit 1
  ), base_commit) or base_commit in (
    select turns.base_commit from job_turns as turns where turns.job_id = opened_by and turns.merge_base and ${ofItsTurns}
  ))`;

const mergeStatement = `
  update pull_requests
  set merge_requested_at = coalesce(merge_requested_at, now()), merge_problem = null, merge_method = $3, deletes_branch = $4,
      merge_head = coalesce($5, head_commit)
  where id = $1 and ${ofOwner} and state = 'open' and not draft`;

const closeStatement = `
  with ${openerFirst}, closed as (
    update pull_requests set state = 'closed', updated_at = now() from opener
    where pull_requests.id = $1 and ${ofOwner} and state = 'open' and merge_requested_at is null and job_id is null
    returning pull_requests.id
  )
  update jobs set pr_state = 'closed' from closed where pull_request_of(jobs.id, pr_id) = closed.id returning jobs.id`;

const readyStatement = `
  update pull_requests set draft = false, updated_at = now() where id = $1 and ${ofOwner} and state = 'open' and draft and job_id is null`;

/** The pull requests of an organization's jobs. */
export type PullRequestStore = ReturnType<typeof createPullRequestStore>;

/** Creates the store of an organization's pull requests. */
export function createPullRequestStore(pool: Pool) {
  /** Runs a statement that changes one pull request and returns the ids of the jobs that it changed as well. */
  async function change(
    caller: Caller,
    id: string,
    { statement, action, values = [] }: { statement: string; action: string; values?: unknown[] },
  ) {
    const changed = await withTransaction(pool, async (client) => {
      const { rows, rowCount } = await client.query<{ id: string }>(statement, [id, caller.organizationId, ...values]);
      if (rowCount === 0) return null;
      await writeAudit(client, caller, { action, subject: id });
      return rows;
    });
    for (const job of changed ?? []) wakeWatchers(pool, job.id);
    return changed !== null;
  }

  return {
    async find({ organizationId }: Owner, id: string): Promise<FoundPullRequest | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<FoundPullRequest>(findStatement, [id, organizationId]);
      return rows[0] ?? null;
    },

    /** Returns its change as a patch against the base commit of its turns; null when nothing is stored of it. */
    async patch({ organizationId }: Owner, id: string): Promise<string | null> {
      const { rows } = await pool.query<{ patch: string; isRemoved: boolean }>(patchStatement, [id, organizationId]);
      if (rows[0]?.isRemoved === true) throw new SnapshotRemovedError();
      return rows[0]?.patch ?? null;
    },

    /** Requests the merge from the workers. False when it is not open, or still a draft. */
    requestMerge: (caller: Caller, id: string, { method, deletesBranch, headCommit }: MergeRequest): Promise<boolean> =>
      change(caller, id, {
        statement: mergeStatement,
        action: 'pull-request.merge',
        values: [method, deletesBranch, headCommit],
      }),

    /** Asks the workers whether it can be merged, unless it is not open or was checked in the last seconds. */
    async requestCheck({ organizationId }: Owner, id: string): Promise<void> {
      await pool.query(
        `update pull_requests set check_requested_at = now()
         where id = $1 and ${ofOwner} and state = 'open' and check_requested_at is null
           and coalesce((mergeability ->> 'checkedAt')::timestamptz, '-infinity') < now() - interval '1 second'`,
        [id, organizationId],
      );
    },

    /** Only for the local forge. False when it is not open, or is being merged. */
    close: (caller: Caller, id: string): Promise<boolean> =>
      change(caller, id, { statement: closeStatement, action: 'pull-request.close' }),
    /** Only for the local forge. False when it is not an open draft. */
    markReady: (caller: Caller, id: string): Promise<boolean> =>
      change(caller, id, { statement: readyStatement, action: 'pull-request.ready' }),
  };
}
