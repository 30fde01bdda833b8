import { afterAll, beforeAll, expect, it } from 'vitest';
import { createEffectStore } from '../../../db/for-worker/effects.ts';
import { createJobBranchStore } from '../../../db/for-worker/job-branches.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import type { Snapshot } from '../../../db/for-worker/snapshots.ts';
import { createStepStore } from '../../../db/for-worker/steps.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { seedJob } from './seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

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
  { kind: 'moved', commit: 'theirs', tree: 'merged' },
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
