import type { Pool, PoolClient } from 'pg';
import type { TurnRef, WorkedTurn } from '../../workflows/contract/job.ts';
import { dueByTurns } from '../due-by-turns.ts';
import { withTransaction } from '../pool.ts';
import { newestTree, newestTreeOf, noStepAfter, ofBase } from '../jobs/job-statements.ts';
import { type Snapshot, storeSnapshot } from './snapshots.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export type PullRequestState = 'open' | 'closed' | 'merged';

/** State of a pull request on its forge. */
interface PullRequestStatus {
  state: PullRequestState;
  draft: boolean;
}

/** Changes that others pushed to a job's branch, as the working copy adopts them. */
export interface AdoptedBranch {
  /** The tree that the working copy gets. */
  tree: string;
  /** Null when it is the tree of the base commit. */
  snapshot: Snapshot | null;
  /** Snapshot of the head's tree, if it is a different one that is not stored yet. */
  headSnapshot?: Snapshot | null;
  /**
   * State of the branch; if absent, the stored one stays. `baseCommit` is that of the base branch that the tree contains by
   * a merge since.
   */
  head?:
    | { kind: 'moved'; commit: string; tree: string; baseCommit: string | null }
    | { kind: 'merged'; baseCommit: string };
  /** Note about it for the agent, of the kind `overruled`, before its first answer of the turn. */
  note?: string | null;
}

const dueOpen = dueByTurns({
  table: 'jobs',
  holder: 'organization_id',
  due: 'pull_request_due(pr_checked_at, coalesce(ended_at, wait_since, created_at))',
  now: `now() at time zone 'UTC'`,
  where: `pr_id is not null and coalesce(pr_state, 'open') = 'open'`,
});

const dueClosed = dueByTurns({
  table: 'pull_requests',
  holder: 'organization_id',
  due: 'check_due_at',
  where: 'check_due_at is not null',
});

type BranchHead = NonNullable<AdoptedBranch['head']>;

export interface OpenPullRequest {
  /** That of the job. */
  id: string;
  organizationId: string;
  projectId: string;
  repository: string;
  prId: string;
}

export type JobBranchStore = ReturnType<typeof createJobBranchStore>;

/** Stores what others did to the branch and the pull request of a job, and the tree that its working copy is set to. */
export function createJobBranchStore(pool: Pool) {
  /**
   * Stores the branch in one transaction if `effect` is still held with the fence; false otherwise. `result` completes the
   * effect. Once the turn has ended, only the result is stored: a newer turn may have read the job's state.
   */
  async function adopt(
    ref: TurnRef & { effect: string; fence: number; branch: AdoptedBranch; result: unknown },
  ): Promise<boolean> {
    const { jobId, turn, branch } = ref;
    return withTransaction(pool, async (client) => {
      // locks the job's row before its turn's, in the order of the statements that end a job
      const active = await client.query(
        `select from jobs where id = $1 and turn = $2 and status = 'active' for no key update`,
        [jobId, turn],
      );
      const held = await client.query(
        `update job_effects set result = $5 where job_id = $1 and turn = $2 and effect = $3 and fence = $4`,
        [jobId, turn, ref.effect, ref.fence, toStoredJson(ref.result)],
      );
      if (held.rowCount !== 1) return false;
      if (active.rowCount !== 1) return true;
      for (const snapshot of [branch.snapshot, branch.headSnapshot ?? null])
        if (snapshot !== null) await storeSnapshot(client, jobId, snapshot);
      if (branch.head !== undefined) await setHead(client, { jobId, turn, head: branch.head });
      await setTree(client, { jobId, turn, tree: branch.tree });
      if (typeof branch.note === 'string') await addNote(client, { jobId, turn, text: branch.note });
      return true;
    });
  }

  return {
    adopt,

    /** Reports whether the message that began a turn asks for a merge of the base branch. */
    async asksForBase({ jobId, turn }: TurnRef): Promise<boolean> {
      const { rowCount } = await pool.query('select from job_turns where job_id = $1 and turn = $2 and merge_base', [
        jobId,
        turn,
      ]);
      return rowCount === 1;
    },

    /**
     * Makes the tree of before a review the newest one, and adds a note for the agent. Does so once, and only until the turn
     * has continued or ended. `review` is the first step of the review.
     */
    async restoreTree(ref: WorkedTurn & { review: number; note: string }): Promise<void> {
      const { jobId, turn, step = null, review, note } = ref;
      const beforeReview = newestTreeOf('tree is not null and (turn, step) < ($2, $4)');
      await pool.query(
        // the job is locked before its turn, in the order of the statements that end a job
        `with active as materialized (
           select from jobs where id = $1 and turn = $2 and status = 'active' and ${noStepAfter('$3::integer')}
           for no key update
         ), finished as (
           select tree from job_snapshots where ${ofBase} and tree = (${beforeReview}) and tree <> (${newestTree})
         ), restored as (
           update job_turns
           set tree = finished.tree,
               tree_step = (select max(step) from job_steps where job_id = $1 and job_steps.turn = $2)
           from active, finished
           where job_turns.job_id = $1 and job_turns.turn = $2 and coalesce(tree_step, 0) < $4
           returning tree_step
         )
         insert into job_notes (job_id, turn, step, kind, text)
         select $1, $2, tree_step + 1, 'self-review', $5 from restored`,
        [jobId, turn, step, review, toStoredText(note)],
      );
    },

    /**
     * Stores the state of the newest pull request of a job or an earlier one as it was read; a merged one stays merged, whatever
     * was read before.
     */
    async setPullRequestState(ref: PullRequestStatus & { jobId: string; prId: string }): Promise<void> {
      const { jobId, prId, state, draft } = ref;
      const { rowCount } = await pool.query(
        // the job is locked before its pull request, and only for a change
        `with opener as materialized (
           select id from jobs
           where id = $1 and (
             pr_id = $2 and (pr_state, pr_draft) is distinct from ($3, $4) or exists (
               select from pull_requests
               where pull_requests.id = pull_request_of($1, $2) and (state, draft) is distinct from ($3, $4)
             )
           )
           for no key update
         ), seen as (
           update jobs set pr_state = $3, pr_draft = $4, updated_at = now() from opener
           where jobs.id = opener.id and pr_id = $2 and pr_state is distinct from 'merged'
             and (pr_state, pr_draft) is distinct from ($3, $4)
         ), changed as (
           update pull_requests set state = $3, draft = $4, updated_at = now() from opener
           where pull_requests.id = pull_request_of(opener.id, $2) and job_id = opener.id and state <> 'merged'
             and (state, draft) is distinct from ($3, $4)
         )
         select from opener`,
        [jobId, prId, state, draft],
      );
      if (rowCount !== 0) wakeWatchers(pool, jobId);
    },

    /**
     * Returns jobs whose pull request was open at the last check and is due for another, claimed by this process, by turns of
     * the organizations; the older the job, the rarer the checks. Those at work are among them: a turn can wait for days.
     */
    async claimOpenPullRequests({ limit }: { limit: number }): Promise<OpenPullRequest[]> {
      const { rows } = await pool.query<OpenPullRequest>(
        `with recursive ${dueOpen}
         update jobs set pr_checked_at = now() from due where jobs.id = due.id
         returning jobs.id, organization_id as "organizationId", project_id as "projectId", repository, pr_id as "prId"`,
        [limit],
      );
      return rows;
    },

    /**
     * Returns pull requests of ended jobs on other forges that were closed in the last months, or reopened, claimed by this
     * process for the next check, by turns of the organizations.
     */
    async claimClosedPullRequests({ limit }: { limit: number }): Promise<OpenPullRequest[]> {
      const { rows } = await pool.query<OpenPullRequest>(
        `with recursive ${dueClosed}, claimed as (
           update pull_requests
           set check_due_at = case
             when pull_requests.updated_at > now() - interval '90 days'
             then now() + greatest(interval '10 minutes', (now() - pull_requests.updated_at) / 20)
           end
           from due where pull_requests.id = due.id
           returning opened_by, pull_requests.repository, number::text as "prId"
         )
         select jobs.id, organization_id as "organizationId", project_id as "projectId", claimed.repository, "prId"
         from claimed join jobs on jobs.id = opened_by where status <> 'active'`,
        [limit],
      );
      return rows;
    },
  };
}

/** A merged branch is abandoned: the job starts again on its new base. */
async function setHead(client: PoolClient, { jobId, turn, head }: TurnRef & { head: BranchHead }): Promise<void> {
  if (head.kind === 'moved') {
    await client.query(
      `update jobs
       set head_commit = $2, head_tree = $3, base_commit = coalesce($4, base_commit),
           merged_from = case when $4 is null then merged_from else coalesce(merged_from, base_commit) end,
           updated_at = now()
       where id = $1`,
      [jobId, head.commit, head.tree, head.baseCommit],
    );
  } else {
    await client.query(
      `update jobs
       set base_commit = $2, merged_from = null, branch = null, head_commit = null, head_tree = null, updated_at = now()
       where id = $1`,
      [jobId, head.baseCommit],
    );
  }
  if (head.baseCommit === null) return;
  const values = [jobId, turn, head.baseCommit];
  await client.query('update job_turns set base_commit = $3 where job_id = $1 and turn = $2', values);
}

/** Sets the tree of the working copy after the steps that exist now. */
async function setTree(client: PoolClient, { jobId, turn, tree }: TurnRef & { tree: string }): Promise<void> {
  await client.query(
    `update job_turns
     set tree = $3, tree_step = done.step, first_tree = case when done.step = 0 then $3 else first_tree end
     from (select coalesce(max(step), 0) as step from job_steps where job_id = $1 and turn = $2) as done
     where job_id = $1 and turn = $2`,
    [jobId, turn, tree],
  );
}

async function addNote(client: PoolClient, { jobId, turn, text }: TurnRef & { text: string }): Promise<void> {
  await client.query(
    `insert into job_notes (job_id, turn, step, kind, text) values ($1, $2, 1, 'overruled', $3) on conflict do nothing`,
    [jobId, turn, toStoredText(text)],
  );
}
