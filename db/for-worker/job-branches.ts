import type { Pool, PoolClient } from 'pg';
import type { TurnRef } from '../../workflows/contract/job.ts';
import { withTransaction } from '../pool.ts';
import { type Snapshot, storeSnapshot } from './snapshots.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

export type PullRequestState = 'open' | 'closed' | 'merged';

/** How a pull request stands on its forge. */
export interface PullRequestStanding {
  state: PullRequestState;
  draft: boolean;
}

/** The branch as a job's working copy follows it. */
export interface AdoptedBranch {
  /** The tree the working copy is to have from now on. */
  tree: string;
  /** Null when it is the tree of the base commit. */
  snapshot: Snapshot | null;
  /** Of the head's tree, where that is another one that is not stored yet. */
  headSnapshot?: Snapshot | null;
  /** What became of the branch; absent leaves what the job knows of it. */
  head?: { kind: 'moved'; commit: string; tree: string } | { kind: 'merged'; baseCommit: string };
  /** The note about it for the agent, of the kind `overruled`, before its first answer of the turn. */
  note?: string | null;
}

type BranchHead = NonNullable<AdoptedBranch['head']>;

export interface OpenPullRequest {
  /** Of the job. */
  id: string;
  organizationId: string;
  projectId: string;
  repository: string;
  prId: string;
}

export interface JobBranchStore {
  /** In one transaction, while `effect` is still held with the fence; false says it is not. `result` ends the effect. */
  adopt(ref: TurnRef & { effect: string; fence: number; branch: AdoptedBranch; result: unknown }): Promise<boolean>;
  setPullRequestState(ref: PullRequestStanding & { jobId: string; prId: string }): Promise<void>;
  /** Ended jobs whose pull request was open when somebody looked last, for this process to look at now. */
  claimOpenPullRequests(options: { limit: number; everyMs: number }): Promise<OpenPullRequest[]>;
}

/** What others did to the branch and the pull request of a job. */
export function createJobBranchStore(pool: Pool): JobBranchStore {
  async function adopt(
    ref: TurnRef & { effect: string; fence: number; branch: AdoptedBranch; result: unknown },
  ): Promise<boolean> {
    const { jobId, turn, branch } = ref;
    return withTransaction(pool, async (client) => {
      const held = await client.query(
        `update job_effects set result = $5 where job_id = $1 and turn = $2 and effect = $3 and fence = $4`,
        [jobId, turn, ref.effect, ref.fence, toStoredJson(ref.result)],
      );
      if (held.rowCount !== 1) return false;
      for (const snapshot of [branch.snapshot, branch.headSnapshot ?? null])
        if (snapshot !== null) await storeSnapshot(client, jobId, snapshot);
      // the job's row before its turn's, as the statements that end a job lock them
      if (branch.head !== undefined) await setHead(client, { jobId, turn, head: branch.head });
      await setTree(client, { jobId, turn, tree: branch.tree });
      if (typeof branch.note === 'string') await addNote(client, { jobId, turn, text: branch.note });
      return true;
    });
  }

  return {
    adopt,

    async setPullRequestState({ jobId, prId, state, draft }) {
      await pool.query(
        `update jobs set pr_state = $3, pr_draft = $4, updated_at = now()
         where id = $1 and pr_id = $2 and (pr_state, pr_draft) is distinct from ($3, $4)`,
        [jobId, prId, state, draft],
      );
    },

    async claimOpenPullRequests({ limit, everyMs }) {
      const { rows } = await pool.query<OpenPullRequest>(
        `with due as materialized (
           select id from jobs
           where status in ('completed', 'failed') and pr_id is not null and coalesce(pr_state, 'open') = 'open'
             -- the older the job, the rarer
             and coalesce(pr_checked_at, ended_at)
                 < now() - greatest($2::float8 * interval '1 millisecond', (now() - ended_at) / 20)
           order by pr_checked_at nulls first limit $1 for update skip locked
         )
         update jobs set pr_checked_at = now() from due where jobs.id = due.id
         returning jobs.id, organization_id as "organizationId", project_id as "projectId", repository, pr_id as "prId"`,
        [limit, everyMs],
      );
      return rows;
    },
  };
}

/** A merged branch is left behind: the job begins anew on its new base. */
async function setHead(client: PoolClient, { jobId, turn, head }: TurnRef & { head: BranchHead }): Promise<void> {
  const ours = `where id = $1 and turn = $2 and status = 'active'`;
  if (head.kind === 'moved') {
    const values = [jobId, turn, head.commit, head.tree];
    await client.query(`update jobs set head_commit = $3, head_tree = $4, updated_at = now() ${ours}`, values);
    return;
  }
  await client.query(
    `update jobs
     set base_commit = $3, branch = null, head_commit = null, head_tree = null, updated_at = now() ${ours}`,
    [jobId, turn, head.baseCommit],
  );
  const values = [jobId, turn, head.baseCommit];
  await client.query('update job_turns set base_commit = $3 where job_id = $1 and turn = $2', values);
}

/** The working copy has this tree after the steps that are there now. */
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
