import { expect, it } from 'vitest';
import { createEffectStore } from '../../../../db/for-worker/effects.ts';
import { createJobBranchStore } from '../../../../db/for-worker/job-branches.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { storeSnapshot, type Snapshot } from '../../../../db/for-worker/snapshots.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { withTransaction } from '../../../../db/pool.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { seedJob } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

function snapshotOf(tree: string, baseCommit: string): Snapshot {
  return {
    tree,
    commit: `c-${tree}`,
    baseCommit,
    pack: Buffer.from([1]),
    patch: `+${tree}`,
    changedFiles: 1,
    additions: 2,
    deletions: 1,
  };
}

it.each([
  { kind: 'merged', baseCommit: 'newer' },
  { kind: 'moved', commit: 'theirs', tree: 'merged', baseCommit: 'newer' },
] as const)('leaves the job of a newer turn as it is when an older one follows a branch that $kind', async (head) => {
  const { pool } = database;
  const [steps, effects, jobs] = [createStepStore(pool), createEffectStore(pool), createWorkerJobStore(pool)];
  const ref = await seedJob(pool);
  await pool.query(`update jobs set base_commit = 'base', head_commit = 'ours', head_tree = 'own' where id = $1`, [
    ref.jobId,
  ]);
  const step = await steps.claim({ ...ref, step: 1 });
  const batch = { results: [], tree: 'own', snapshot: snapshotOf('own', 'base'), patch: null };
  await steps.storeResults({ ...ref, step: 1, fence: step.fence, ...batch });
  const effect = { ...ref, effect: 'follow-up' };
  const { fence } = await effects.claim(effect);
  await jobs.finish({ ...ref, status: 'failed', failureCategory: 'cancelled' });
  await asOperator(pool).send({ jobId: ref.jobId, prompt: 'Again', idempotency: null });

  const branch = { tree: 'merged', snapshot: snapshotOf('merged', 'newer'), head };
  const result = { isFollowed: true };
  expect(await createJobBranchStore(pool).adopt({ ...effect, fence, branch, result })).toBe(true);
  expect(await effects.result(effect)).toEqual(result);
  expect(await steps.latestTree(ref.jobId)).toBe('own');
  expect(await steps.snapshot(ref.jobId, 'merged')).toBeNull();
  expect(await jobs.get(ref.jobId)).toMatchObject({
    turn: 2,
    baseCommit: 'base',
    headCommit: 'ours',
    headTree: 'own',
  });
});

it('restores the tree of before a review once, with a note, until the turn has continued or ended', async () => {
  const { pool } = database;
  const [steps, branches, jobs] = [createStepStore(pool), createJobBranchStore(pool), createWorkerJobStore(pool)];
  const ref = await seedJob(pool);
  await pool.query(`update jobs set base_commit = 'base' where id = $1`, [ref.jobId]);
  const take = async (step: number) => {
    const { fence } = await steps.claim({ ...ref, step });
    const batch = { results: [], tree: `t${step}`, snapshot: snapshotOf(`t${step}`, 'base'), patch: null };
    await steps.storeResults({ ...ref, step, fence, ...batch });
  };
  const restore = () => branches.restoreTree({ ...ref, step: 3, review: 2, note: 'As before.' });
  const now = async () => {
    const { rows } = await pool.query('select step, kind, text from job_notes where job_id = $1', [ref.jobId]);
    return { tree: await steps.latestTree(ref.jobId), notes: rows };
  };
  await take(1);
  await restore();
  expect(await now()).toEqual({ tree: 't1', notes: [] });
  await take(2);
  // its answer was refused
  await steps.claim({ ...ref, step: 3 });
  await jobs.finish({ ...ref, status: 'failed', failureCategory: 'cancelled' });
  await restore();
  expect(await now()).toEqual({ tree: 't2', notes: [] });
  await pool.query(`update jobs set status = 'active' where id = $1`, [ref.jobId]);
  let late: Promise<void> | undefined;
  const setTree = 'update job_turns set tree = $2, tree_step = $3 where job_id = $1';
  // another attempt has adopted what others pushed
  await withTransaction(pool, async (client) => {
    await client.query('update jobs set updated_at = now() where id = $1', [ref.jobId]);
    late = restore();
    await untilBlocked(database);
    await storeSnapshot(client, ref.jobId, snapshotOf('theirs', 'base'));
    await client.query(setTree, [ref.jobId, 'theirs', 3]);
  });
  await late;
  expect(await now()).toEqual({ tree: 'theirs', notes: [] });

  await pool.query(setTree, [ref.jobId, null, null]);
  await restore();
  const notes = [{ step: 4, kind: 'self-review', text: 'As before.' }];
  expect(await now()).toEqual({ tree: 't1', notes });
  await restore();
  expect(await now()).toEqual({ tree: 't1', notes });
  await pool.query(setTree, [ref.jobId, null, null]);
  await take(4);
  await restore();
  expect(await now()).toEqual({ tree: 't4', notes });
});

/** Creates an ended job on another forge whose second turn opened a second pull request, and returns its id and a question about a column. */
async function seedTwoPulls() {
  const { pool } = database;
  const { jobId } = await seedJob(pool);
  for (const number of [1, 2]) {
    await pool.query(
      `insert into pull_requests (id, repository, number, head, base, title, body, draft, state, job_id)
       select pull_request_of(id, $2), repository, $2::integer, 'h' || $2, 'main', 'x', '', false, 'open', id
       from jobs where id = $1`,
      [jobId, String(number)],
    );
    await pool.query(
      `update jobs set status = 'completed', turn = $2, pr_id = $3, pr_link = 'x', pr_state = 'open' where id = $1`,
      [jobId, number, String(number)],
    );
  }
  const states = async () => {
    const { rows } = await pool.query('select state from pull_requests where job_id = $1 order by number', [jobId]);
    const job = await pool.query('select pr_state from jobs where id = $1', [jobId]);
    return [...rows.map(({ state }) => state), job.rows[0]?.pr_state];
  };
  const set = (prId: string, state: 'open' | 'closed' | 'merged') =>
    createJobBranchStore(pool).setPullRequestState({ jobId, prId, state, draft: false });
  return { jobId, states, set };
}

const isDue = (jobId: string) =>
  database.pool.query(`update pull_requests set check_due_at = now() where job_id = $1 and state <> 'merged'`, [jobId]);

it('stores the state of an earlier pull request, which the job does not take for its own', async () => {
  const { states, set } = await seedTwoPulls();
  await set('1', 'closed');
  expect(await states()).toEqual(['closed', 'open', 'open']);
  await set('2', 'closed');
  await set('1', 'open');
  expect(await states()).toEqual(['open', 'closed', 'closed']);
  await set('1', 'merged');
  await set('1', 'open');
  expect(await states()).toEqual(['merged', 'closed', 'closed']);
});

it('checks closed pull requests of ended jobs again, one process each, for 90 days', async () => {
  const { pool } = database;
  const { jobId, set } = await seedTwoPulls();
  const claim = async () => {
    const claimed = await createJobBranchStore(pool).claimClosedPullRequests({ limit: 5 });
    return claimed.filter(({ id }) => id === jobId).map(({ prId }) => prId);
  };
  await set('1', 'closed');
  // closed a moment ago
  expect(await claim()).toEqual([]);
  await isDue(jobId);
  expect((await claim()).sort()).toEqual(['1', '2']);
  expect(await claim()).toEqual([]);
  // a running turn checks its pull request itself
  await isDue(jobId);
  await pool.query(`update jobs set status = 'active' where id = $1`, [jobId]);
  expect(await claim()).toEqual([]);
  await pool.query(`update jobs set status = 'archived' where id = $1`, [jobId]);
  await set('2', 'merged');
  await pool.query(
    `update pull_requests set check_due_at = check_due_at - interval '1 year', updated_at = now() - interval '91 days'
     where job_id = $1`,
    [jobId],
  );
  expect(await claim()).toEqual(['1']);
  const { rows } = await pool.query('select check_due_at from pull_requests where job_id = $1', [jobId]);
  expect(rows).toEqual([{ check_due_at: null }, { check_due_at: null }]);
});

it('checks open pull requests, one process each, those of old jobs rarely', async () => {
  const { pool } = database;
  const { jobId } = await seedTwoPulls();
  const claimAt = async (endedAgo: string | null, checkedAgo: string | null) => {
    const values = [jobId, endedAgo, checkedAgo];
    await pool.query(
      'update jobs set ended_at = now() - $2::interval, pr_checked_at = now() - $3::interval where id = $1',
      values,
    );
    const branches = createJobBranchStore(pool);
    const claims = await Promise.all([1, 2].map(() => branches.claimOpenPullRequests({ limit: 5 })));
    return claims.flat().filter(({ id }) => id === jobId).length;
  };
  expect([await claimAt('50 s', null), await claimAt('61 s', null)]).toEqual([0, 1]);
  expect([await claimAt('10 min', '50 s'), await claimAt('10 min', '61 s')]).toEqual([0, 1]);
  expect([await claimAt('20 days', '20 hours'), await claimAt('20 days', '25 hours')]).toEqual([0, 1]);
  await pool.query(`update jobs set status = 'archived' where id = $1`, [jobId]);
  expect([await claimAt('31 days', '1 day'), await claimAt('31 days', '2 days')]).toEqual([0, 1]);
  await pool.query(`update jobs set status = 'completed' where id = $1`, [jobId]);
  // the job ended again since
  expect([await claimAt('50 s', '1 hour'), await claimAt('20 days', '21 days')]).toEqual([1, 1]);
  // a follow-up waits for a person, who may merge instead of answering
  await pool.query(
    `update jobs set status = 'active', phase = 'waiting', wait_since = now() - interval '10 min' where id = $1`,
    [jobId],
  );
  expect([await claimAt(null, '50 s'), await claimAt(null, '61 s')]).toEqual([0, 1]);
  await pool.query(
    `update jobs set phase = 'queued', wait_since = null, created_at = now() - interval '20 days' where id = $1`,
    [jobId],
  );
  expect([await claimAt(null, '20 hours'), await claimAt(null, '25 hours'), await claimAt(null, null)]).toEqual([
    0, 1, 1,
  ]);
});
