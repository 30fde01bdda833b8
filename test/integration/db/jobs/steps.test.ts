import { expect, it } from 'vitest';
import { createEffectStore } from '../../../../db/for-worker/effects.ts';
import { createProjectCredentialReader } from '../../../../db/for-worker/projects/projects.ts';
import { createJobTimelineStore } from '../../../../db/jobs/job-timeline.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createJobWrites } from '../../../../db/for-worker/job-writes.ts';
import { createModelFailureStore } from '../../../../db/for-worker/model-failures.ts';
import type { Snapshot } from '../../../../db/for-worker/snapshots.ts';
import { createJobContextStore } from '../../../../db/for-worker/job-context.ts';
import { createStepStore, type StepResponse } from '../../../../db/for-worker/steps.ts';
import { createSecretBox } from '../../../../lib/encryption/secret-box.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedJob } from '../seed.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const response: StepResponse = {
  content: [{ type: 'text', text: 'nul \0 and half \ud800 of a pair' }],
  text: 'reading',
  toolCalls: [{ toolCallId: 'c1', toolName: 'read', input: { path: 'a.txt' } }],
};
const answer = {
  model: 'offline/editor',
  requestHash: 'h',
  response,
  finishReason: 'tool-calls',
  usage: { inputTokens: 10, outputTokens: 2 },
  costMicros: 0,
};
const results = [{ toolCallId: 'c1', toolName: 'read', output: 'binary \0', isError: false }];

function snapshotOf(tree: string, patch = `+${tree}`): Snapshot {
  return {
    tree,
    commit: `c-${tree}`,
    baseCommit: 'base',
    pack: Buffer.from([0, 1, 255]),
    patch,
    changedFiles: 1,
    additions: 2,
    deletions: 1,
  };
}

it('gives a step to the newest attempt, with what is already stored', async () => {
  const steps = createStepStore(database.pool);
  const ref = { ...(await seedJob(database.pool)), step: 1 };
  const first = await steps.claim(ref);
  expect(first).toMatchObject({
    ...ref,
    fence: 1,
    response: null,
    usage: { inputTokens: 0, outputTokens: 0 },
    tree: null,
  });
  const second = await steps.claim(ref);
  expect(second.fence).toBe(2);
  expect(await steps.storeResponse({ ...ref, ...answer })).not.toBeNull();
  expect(await steps.storeResponse({ ...ref, ...answer, finishReason: 'stop' })).toBeNull();
  const third = await steps.claim(ref);
  expect(third).toMatchObject({
    fence: 3,
    finishReason: 'tool-calls',
    usage: answer.usage,
    response: { ...response, content: [{ type: 'text', text: 'nul \uFFFD and half \uFFFD of a pair' }] },
    toolResults: null,
  });
});

it("adds each answer's input to the job's by whether the provider had it in its cache", async () => {
  const steps = createStepStore(database.pool);
  const { jobId, turn } = await seedJob(database.pool);
  for (const step of [1, 2]) {
    await steps.claim({ jobId, turn, step });
    await steps.storeResponse({ jobId, turn, step, ...answer, cachedTokens: 5, cacheWriteTokens: 3 });
  }
  const context = createJobContextStore(database.pool);
  const compaction = { turn, step: 3, uptoTurn: turn, uptoStep: 2, summary: '', tree: null, costMicros: 0 };
  const ledger = { read: {}, changed: [], todo: [] };
  const usage = { inputTokens: 20, cachedTokens: 11, cacheWriteTokens: 7, outputTokens: 1 };
  for (const isStored of [true, false])
    expect(await context.storeCompaction({ jobId, ...compaction, ledger, usage })).toBe(isStored);
  const jobs = createWorkerJobStore(database.pool);
  expect(await jobs.get(jobId)).toMatchObject({ inputTokens: 40, cachedTokens: 21, cacheWriteTokens: 13 });
  // what calls of an earlier version did stays unknown
  await database.pool.query('update jobs set cached_tokens = null where id = $1', [jobId]);
  await steps.claim({ jobId, turn, step: 3 });
  await steps.storeResponse({ jobId, turn, step: 3, ...answer, cachedTokens: 5 });
  expect(await jobs.get(jobId)).toMatchObject({ inputTokens: 50, cachedTokens: null });
});

it('returns the job with each claim, and with each answer the snapshot that its tools start from', async () => {
  const steps = createStepStore(database.pool);
  const jobs = createWorkerJobStore(database.pool);
  const credentials = createProjectCredentialReader(database.pool, createSecretBox([]));
  const ref = await seedJob(database.pool);
  await database.pool.query(
    `update jobs set base_commit = 'base', wait_since = now(), wait_until = now() + interval '1 day', check_result = '{}'
     where id = $1`,
    [ref.jobId],
  );
  const first = (await steps.claimAnswer({ ...ref, step: 1 }))!;
  expect(credentials.openJob(first.job).job).toEqual(await jobs.get(ref.jobId));
  const stored = await steps.storeResponse({ ...ref, step: 1, ...answer });
  const { status, phase, turn, grants, projectVersion } = first.job;
  expect(stored).toEqual({ now: { status, phase, turn, grants, projectVersion }, snapshot: null });
  const snapshot = snapshotOf('tree');
  await steps.storeResults({ ...ref, step: 1, fence: first.fence, results, tree: 'tree', snapshot, patch: null });
  await steps.claimAnswer({ ...ref, step: 2 });
  await database.pool.query('update projects set may_run = not may_run');
  const changed = await steps.storeResponse({ ...ref, step: 2, ...answer });
  expect(changed).toMatchObject({
    now: { projectVersion: expect.not.stringMatching(`^${projectVersion}$`) },
    snapshot,
  });

  await steps.claimAnswer({ ...ref, step: 3 });
  await jobs.finish({ ...ref, status: 'failed', failureCategory: 'cancelled' });
  await database.pool.query(
    'delete from grants using jobs where grants.organization_id = jobs.organization_id and id = $1',
    [ref.jobId],
  );
  expect(await steps.storeResponse({ ...ref, step: 3, ...answer })).toMatchObject({
    now: { status: 'failed', grants: [] },
  });
});

it('returns the context of a call with the first claim of a worker that knows the steps before', async () => {
  const { pool } = database;
  const [steps, context] = [createStepStore(pool), createJobContextStore(pool)];
  const ref = await seedJob(pool);
  const first = (await steps.claimAnswer({ ...ref, step: 1 }))!;
  expect(first).toMatchObject({ fence: 1, context: null });
  await steps.storeResponse({ ...ref, step: 1, ...answer });
  await steps.storeResults({ ...ref, step: 1, fence: first.fence, results, tree: 'tree', snapshot: null, patch: null });
  await context.addNote({ ...ref, step: 2, kind: 'nudge', text: 'Look up.' });
  await createEffectStore(pool).claim({ ...ref, effect: 'instructions' });
  await pool.query(`update job_effects set result = '{"a": 1}' where job_id = $1`, [ref.jobId]);
  const call = { ...ref, step: 2 };
  const expected = await context.read(call, { turn: 0, step: 0 });
  expect(expected).toMatchObject({ steps: [{ step: 1, tree: 'tree' }], notes: [{ text: 'Look up.' }] });
  expect(expected).toMatchObject({ prompts: [{ turn: 1 }], instructions: { a: 1 }, known: { turn: 0, step: 0 } });
  expect(await steps.claimAnswer(call, { turn: 0, step: 0 })).toMatchObject({ fence: 1, context: expected });
  expect(await steps.claimAnswer(call, { turn: 0, step: 0 })).toBeNull();
  await pool.query('update job_steps set asked_until = null where job_id = $1', [ref.jobId]);
  // the first attempt may have stored notes or taken messages since the snapshot of this statement
  expect(await steps.claimAnswer(call, { turn: 0, step: 0 })).toMatchObject({ fence: 2, context: null });
  const after = { turn: 1, step: 1 };
  const third = await steps.claimAnswer({ ...ref, step: 3 }, after);
  expect(third).toMatchObject({ context: { known: after, steps: [{ step: 2, response: null }] } });
});

it('keeps when and where each attempt was that another one followed, but none of a step that has ended', async () => {
  const ref = { ...(await seedJob(database.pool)), step: 1 };
  const [one, two, three] = ['1@one', '2@two', '3@three'].map((name) => createStepStore(database.pool, name));
  const timeline = createJobTimelineStore(database.pool);
  const owner = { organizationId: (await createWorkerJobStore(database.pool).get(ref.jobId))!.organizationId };
  const shown = async () => (await timeline.step(owner, ref))!;
  await one!.claimAnswer(ref);
  expect(await shown()).toMatchObject({ worker: '1@one', lostAttempts: [] });
  await database.pool.query('update job_steps set asked_until = null where job_id = $1', [ref.jobId]);
  await two!.claimAnswer(ref);
  await two!.storeResponse({ ...ref, ...answer });
  const { fence } = (await three!.claimAnswer(ref))!;
  const lost = await shown();
  expect(lost).toMatchObject({
    worker: '3@three',
    lostAttempts: [
      { attempt: 1, worker: '1@one' },
      { attempt: 2, worker: '2@two' },
    ],
  });
  const [first, second] = lost.lostAttempts.map(({ startedAt, endedAt }) => [startedAt, endedAt].map(Date.parse));
  expect(first?.[0]).toBe(lost.startedAt.getTime());
  expect(first?.[1]).toBe(second?.[0]);
  expect(second?.[1]).toBeGreaterThanOrEqual(lost.answeredAt!.getTime());
  await three!.storeResults({ ...ref, fence, results, tree: 't', snapshot: null, patch: null });
  await one!.claim(ref);
  expect(await shown()).toMatchObject({ worker: '1@one', lostAttempts: lost.lostAttempts });
});

it('stores results together with their snapshot, and neither for a stale attempt', async () => {
  const steps = createStepStore(database.pool);
  const ref = { ...(await seedJob(database.pool)), step: 1 };
  const stale = await steps.claim(ref);
  const { fence } = await steps.claim(ref);
  const batch = { ...ref, results, tree: 't1', snapshot: snapshotOf('t1'), patch: '+one\0' };
  expect(await steps.storeResults({ ...batch, fence: stale.fence })).toBe(false);
  expect(await steps.snapshot(ref.jobId, 't1')).toBeNull();
  expect(await steps.storeResults({ ...batch, fence })).toBe(true);
  expect(await steps.storeResults({ ...batch, fence })).toBe(false);
  expect(await steps.snapshot(ref.jobId, 't1')).toEqual(snapshotOf('t1'));
  const [row] = await steps.list(ref.jobId, 1);
  expect(row).toMatchObject({ tree: 't1', toolResults: [{ output: 'binary \uFFFD', isError: false }] });
});

it('removes the oldest snapshots of a job when the results of a step exceed its limit', async () => {
  const { pool } = database;
  const steps = createStepStore(pool, null, 3_500);
  const ref = await seedJob(pool);
  for (const step of [1, 2, 3, 4]) {
    const { fence } = await steps.claim({ ...ref, step });
    const snapshot = { ...snapshotOf(`t${step}`), pack: Buffer.alloc(1_000) };
    const batch = { ...ref, step, fence, results, tree: snapshot.tree, snapshot, patch: null };
    expect(await steps.storeResults(batch)).toBe(true);
    const bytes = async (tree: string) => (await steps.snapshot(ref.jobId, tree))?.pack.length;
    expect([await bytes('t1'), await bytes(snapshot.tree)]).toEqual([step < 4 ? 1_000 : 0, 1_000]);
  }
  expect((await steps.snapshot(ref.jobId, 't2'))?.pack.length).toBe(1_000);
});

it('stores no results once their turn has ended, and does not touch the tree of the newer turn', async () => {
  const { pool } = database;
  const steps = createStepStore(pool);
  const ref = { ...(await seedJob(pool)), step: 1 };
  await pool.query(`update jobs set base_commit = 'base' where id = $1`, [ref.jobId]);
  const { fence } = await steps.claim(ref);
  await steps.storeResponse({ ...ref, ...answer });
  await createJobWrites(pool).finish({ ...ref, status: 'failed', failureCategory: 'cancelled' });
  await asOperator(pool).send({ jobId: ref.jobId, prompt: 'Again', idempotency: null });
  for (const snapshot of [null, snapshotOf('late')])
    expect(await steps.storeResults({ ...ref, fence, results, tree: 'late', snapshot, patch: null })).toBe(false);
  expect(await steps.latestTree(ref.jobId)).toBeNull();
  expect(await steps.snapshot(ref.jobId, 'late')).toBeNull();
  expect(await steps.list(ref.jobId, 1)).toMatchObject([{ tree: null, toolResults: null }]);
});

it('finds the newest tree and patch across steps and turns, even if the changes were reverted', async () => {
  const steps = createStepStore(database.pool);
  const ref = await seedJob(database.pool);
  await database.pool.query(`insert into job_turns (job_id, turn, prompt) values ($1, 2, 'more')`, [ref.jobId]);
  await database.pool.query(`update jobs set base_commit = 'base' where id = $1`, [ref.jobId]);
  const run = async (turn: number, step: number, tree: string, snapshot: Snapshot | null) => {
    const { fence } = await steps.claim({ ...ref, turn, step });
    expect(await steps.storeResults({ ...ref, turn, step, fence, results, tree, snapshot, patch: null })).toBe(true);
    return [await steps.latestTree(ref.jobId), await asOperator(database.pool).latestPatch(ref.jobId)];
  };
  expect([await steps.latestTree(ref.jobId), await asOperator(database.pool).latestPatch(ref.jobId)]).toEqual([
    null,
    null,
  ]);
  expect(await run(1, 1, 'base', null)).toEqual([null, null]);
  expect(await run(1, 2, 'a', snapshotOf('a'))).toEqual(['a', '+a']);
  expect(await run(1, 10, 'a', null)).toEqual(['a', '+a']);
  expect(await run(1, 11, 'b', snapshotOf('b'))).toEqual(['b', '+b']);
  expect(await run(1, 12, 'base', null)).toEqual([null, null]);
  await database.pool.query('update jobs set turn = 2 where id = $1', [ref.jobId]);
  expect(await run(2, 1, 'a', snapshotOf('a', '+a again'))).toEqual(['a', '+a again']);
  expect(await run(2, 2, 'base', snapshotOf('base', ''))).toEqual(['base', null]);
  await steps.claim({ ...ref, turn: 2, step: 3 });
  expect(await steps.latestTree(ref.jobId)).toBe('base');
  const order = await steps.list(ref.jobId, 2);
  expect(order.map(({ turn, step }) => [turn, step])).toEqual([
    [1, 1],
    [1, 2],
    [1, 10],
    [1, 11],
    [1, 12],
    [2, 1],
    [2, 2],
    [2, 3],
  ]);
  expect(await steps.list(ref.jobId, 1)).toHaveLength(5);
});

it('counts failures of the model and of effects across simultaneous attempts', async () => {
  const steps = createStepStore(database.pool);
  const effects = createEffectStore(database.pool);
  const ref = await seedJob(database.pool);
  const modelFailures = createModelFailureStore(database.pool);
  const count = (model: string | null) => modelFailures.count({ ...ref, step: 1 }, model);
  const counts = await Promise.all(Array.from({ length: 4 }, () => count('a/x')));
  expect(counts.sort()).toEqual([1, 2, 3, 4]);
  expect(await count('b/y')).toBe(1);
  expect(await count(null)).toBe(6);
  expect((await steps.claim({ ...ref, step: 1 })).modelFailures).toBe(6);
  const failures = await Promise.all(Array.from({ length: 3 }, () => effects.countFailure({ ...ref, effect: 'push' })));
  expect(failures.sort()).toEqual([1, 2, 3]);
});

it('lets only the newest attempt hold an effect and store its result', async () => {
  const effects = createEffectStore(database.pool);
  const ref = { ...(await seedJob(database.pool)), effect: 'push' };
  const first = await effects.claim(ref);
  expect(first).toEqual({ fence: 1, result: null });
  expect(await effects.holds({ ...ref, fence: 1 })).toBe(true);
  const second = await effects.claim(ref);
  expect(await effects.holds({ ...ref, fence: first.fence })).toBe(false);
  expect(await effects.storeResult({ ...ref, fence: first.fence, result: 'stale' })).toBe(false);
  expect(await effects.storeResult({ ...ref, fence: second.fence, result: { commit: 'c' } })).toBe(true);
  expect(await effects.claim(ref)).toEqual({ fence: 3, result: { commit: 'c' } });
  expect(await effects.holds({ ...ref, effect: 'pull-request', fence: 1 })).toBe(false);
});
