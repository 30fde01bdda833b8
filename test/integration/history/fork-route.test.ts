import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { buildKey } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { runDocket } from '../../support/stack/docket-process.ts';
import { serveApi } from '../api/serve.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

it(
  'POST …/fork creates a job once per key, and refuses steps that cannot be continued with one sentence',
  { tags: 'slow' },
  async () => {
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script({ toolCalls: [{ name: 'write', input: { path: 'one.txt', content: 'one\n' } }] }, { text: 'Done.' });
    const job = await worker.runJob({ prompt: 'Write one', repository: repository.path });
    await using api = await serveApi(database.pool, {
      OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
      DOCKET_SELF_REVIEW: 'off',
      DOCKET_JOBS_PER_HOUR: '1',
    });
    const { key } = await buildKey(database.pool, { organizationId: job.organizationId });
    const post = (json: object, headers = {}, id = job.id) =>
      api.ask(`/v2/agent/${job.projectId}/job/${id}/fork`, { key, json, headers });
    const once = { 'idempotency-key': 'k1' };
    const created = await post({ step: 1 }, once);
    expect(created).toMatchObject({
      status: 201,
      body: { status: 'active', source: { repository: pathToFileURL(repository.path).href } },
    });
    expect(created.body.details.forkedFrom).toEqual({ jobId: job.id, turn: 1, step: 1 });
    expect(api.created.count).toBe(1);
    expect(await post({ step: 1, turn: 9 })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('there is none yet') },
    });
    expect(await post({ step: 1 }, once)).toMatchObject({ status: 200, body: { id: created.body.id } });
    expect(await post({ step: 1, prompt: 'x' }, once)).toMatchObject({ status: 409 });
    expect((await post({ step: 1 })).status).toBe(429);

    await using more = await serveApi(database.pool, { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl });
    const ask = (json: object, id = job.id) => more.ask(`/v2/agent/${job.projectId}/job/${id}/fork`, { key, json });
    expect(await ask({ step: 2 })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('Send a prompt') },
    });
    expect(await ask({ step: 2, prompt: 'And two' })).toMatchObject({ status: 201 });
    expect(await ask({ step: 3 })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('the last one is 2') },
    });
    expect(await ask({ step: 0 })).toMatchObject({ status: 400 });
    expect(await ask({ step: 1, model: 'nobody/x' })).toMatchObject({ status: 400 });
    expect(await ask({ step: 1 }, 'job_none')).toMatchObject({ status: 404 });

    const env = { DOCKET_URL: more.url, DOCKET_API_KEY: key };
    const forked = await runDocket(['job', 'fork', job.id, '--step', '1', '--prompt', 'And two', '--json'], env);
    expect(JSON.parse(forked.out)).toMatchObject({
      details: { forkedFrom: { jobId: job.id, turn: 1, step: 1 } },
    });
    const refused = await runDocket(['job', 'fork', job.id, '--step', '9'], env);
    expect(refused).toMatchObject({ code: 1, error: expect.stringContaining('the last one is 2') });
    for (const [option, value, words] of [
      ['--model', 'nobody/x', 'model'],
      ['--prompt', ' ', 'must not be blank'],
    ] as const) {
      const wrong = await runDocket(['job', 'fork', job.id, '--step', '1', option, value], env);
      expect(wrong).toMatchObject({ code: 1, out: '', error: expect.stringContaining(words) });
    }
    expect(model.violations).toEqual([]);
  },
);
