import { afterAll, beforeAll, expect, it } from 'vitest';
import { stepListSchema, stepSchema, turnListSchema } from '../../../../api/jobs/job-timeline-schemas.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import type { TestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import type { ServedApi } from '../serve.ts';
import { asOperator } from '../../../support/stack/operator.ts';

const shared = {} as { database: TestDatabase; api: ServedApi; path: string; key: string; jobId: string };
const patchOf = (words: string) =>
  `diff --git a/a.txt b/a.txt\n--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-old\n+${words}\n`;

const stepPatches = [patchOf('version 1'), patchOf('version 2').replace('-old', '-version 1')];

/** A job with three steps: the first and the second changed files, the third waits for the model. */
beforeAll(async () => {
  shared.database = await createTestDatabase();
  const { pool } = shared.database;
  shared.api = await serveApi(pool);
  const project = await buildProject(pool);
  const job = await buildJob(pool, project, { prompt: 'Fix it.' });
  shared.key = (await buildKey(pool, project)).key;
  shared.path = `/v2/agent/${project.id}/job/${job.id}`;
  shared.jobId = job.id;
  await pool.query("update jobs set base_commit = 'base' where id = $1", [job.id]);
  await pool.query("update job_turns set base_commit = 'base' where job_id = $1", [job.id]);
  await pool.query(
    `insert into job_effects (job_id, turn, effect, result)
     values ($1, 1, 'push', '{"commit": "pushed", "tree": "t2"}'), ($1, 1, 'resolve', '{"commit": "base"}')`,
    [job.id],
  );
  await asOperator(pool).send({ jobId: job.id, prompt: 'And that.', idempotency: null });
  const steps = createStepStore(pool);
  for (const step of [1, 2]) {
    const ref = { jobId: job.id, turn: 1, step };
    await steps.claim(ref);
    const toolCalls = [{ toolCallId: `c${step}`, toolName: 'write', input: { path: 'a.txt' } }];
    await steps.storeResponse({
      ...ref,
      model: 'offline/editor',
      requestHash: 'h',
      response: { content: [], text: `words ${step}`, toolCalls },
      finishReason: 'tool-calls',
      usage: { inputTokens: 10, outputTokens: 2 },
      costMicros: 1_500_000,
      cachedTokens: 7,
      cacheWriteTokens: 2,
    });
    const { fence } = await steps.claim(ref);
    await steps.storeResults({
      ...ref,
      fence,
      results: [{ toolCallId: `c${step}`, toolName: 'write', output: 'x'.repeat(5_000), isError: step === 2 }],
      tree: `t${step}`,
      patch: stepPatches[step - 1] ?? null,
      snapshot: {
        tree: `t${step}`,
        commit: `c${step}`,
        baseCommit: 'base',
        pack: Buffer.alloc(1),
        patch: patchOf(`version ${step}`),
        changedFiles: 1,
        additions: 2,
        deletions: 1,
      },
    });
  }
  await steps.claim({ jobId: job.id, turn: 1, step: 3 });
});

afterAll(async () => {
  await shared.api?.[Symbol.asyncDispose]();
  await shared.database?.[Symbol.asyncDispose]();
});

const ask = (path: string) => shared.api.ask(shared.path + path, { key: shared.key });

it('shows the prompts, including waiting messages', async () => {
  const { status, body } = await ask('/turns');
  expect(status).toBe(200);
  const { turns } = turnListSchema.strict().parse(body);
  expect(turns).toMatchObject([{ turn: 1, prompt: 'Fix it.', status: 'active', endedAt: null }]);
  expect(turns).toMatchObject([{ baseCommit: 'base', headCommit: 'pushed' }]);
  expect(turns[0]?.messages).toMatchObject([{ prompt: 'And that.', step: null }]);
});

it('pages the steps, with the beginning of long outputs', async () => {
  const first = stepListSchema.strict().parse((await ask('/steps?limit=2')).body);
  expect(first.nextAfter).toBe('1.2');
  expect(first.steps.map(({ step, text, attempts, changedFiles }) => [step, text, attempts, changedFiles])).toEqual([
    [1, 'words 1', 2, 1],
    [2, 'words 2', 2, 1],
  ]);
  const [call] = first.steps[1]?.toolCalls ?? [];
  expect(call).toMatchObject({ toolName: 'write', input: { path: 'a.txt' }, characters: 5_000, isError: true });
  expect(call?.output).toHaveLength(4_000);
  expect(first.steps[0]?.usage).toEqual({
    inputTokens: 10,
    cachedInputTokens: 7,
    cacheWriteTokens: 2,
    freshInputTokens: 1,
    outputTokens: 2,
    costUsd: 1.5,
  });

  const rest = stepListSchema.strict().parse((await ask(`/steps?after=${first.nextAfter}`)).body);
  expect(rest.nextAfter).toBeNull();
  expect(rest.steps).toMatchObject([{ step: 3, text: null, toolCalls: [], answeredAt: null, changedFiles: null }]);
});

it('shows one step with its whole output', async () => {
  const { body } = await ask('/steps/1/2');
  expect(stepSchema.strict().parse(body).toolCalls[0]?.output).toHaveLength(5_000);
  for (const path of ['/steps/1/9', '/steps/x/1', '/steps/1/0']) {
    expect([path, (await ask(path)).status]).toEqual([path, 404]);
  }
});

it('shows the whole change, and the change as of a step', async () => {
  expect((await ask('/diff')).text).toBe(patchOf('version 2'));
  expect((await ask('/diff?turn=1&step=1')).text).toBe(patchOf('version 1'));
  expect((await ask('/diff?turn=1&step=3')).text).toBe(patchOf('version 2'));
  expect((await ask('/diff?turn=1&step=2')).headers.get('content-type')).toBe('text/x-diff; charset=utf-8');
  expect((await ask('/diff?step=2')).status).toBe(400);
});

it('shows what a single step changed', async () => {
  expect((await ask('/steps/1/1/diff')).text).toBe(patchOf('version 1'));
  const second = await ask('/steps/1/2/diff');
  expect(second.headers.get('content-type')).toBe('text/x-diff; charset=utf-8');
  expect(second.text).toBe(stepPatches[1]);
  expect((await ask('/steps/1/3/diff')).text).toBe('');
  expect((await ask('/steps/1/9/diff')).status).toBe(404);
  const { steps } = stepListSchema.parse((await ask('/steps')).body);
  expect(steps.map(({ hasChanged }) => hasChanged)).toEqual([true, true, false]);
});

it.each(['/steps?after=1', '/steps?after=x.1', '/steps?limit=0', '/steps?limit=101'])('refuses %s', async (path) => {
  expect((await ask(path)).status).toBe(400);
});

it('says when the change of a step was not stored', async () => {
  const { pool } = shared.database;
  await pool.query('update job_steps set patch = null where job_id = $1 and step = 2', [shared.jobId]);
  const { status, body } = await ask('/steps/1/2/diff');
  expect([status, body.error]).toEqual([404, expect.stringContaining('is not stored')]);
  expect((await ask('/steps/1/1/diff')).status).toBe(200);
});

it('shows nothing to another organization', async () => {
  const { pool } = shared.database;
  const { key } = await buildKey(pool, await buildProject(pool));
  for (const path of ['/turns', '/steps', '/steps/1/1', '/steps/1/1/diff', '/diff']) {
    expect((await shared.api.ask(shared.path + path, { key })).status).toBe(404);
  }
});
