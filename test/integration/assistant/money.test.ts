import { expect, it } from 'vitest';
import { buildKey, buildProject } from '../../support/build.ts';
import { createTestDatabase } from '../../support/database.ts';
import { startScriptedModelServer } from '../../support/scripted-model-server.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, question, textOf } from './site.ts';

it('answers until the organization has spent the operator’s daily budget, without affecting others', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  model.respondWith({ text: 'Set `maxRetries`.' });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 1, "output": 1}}',
    DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '0.5',
  };
  await using api = await serveApi(database.pool, env, { maxLoopDelayMs: 60_000 });
  const [busy, quiet] = [await buildIndexedSite(database.pool), await buildIndexedSite(database.pool)];
  const ask = ({ site: { domain }, assistantKey: key }: typeof busy) =>
    api.ask(`/discovery/v2/assistant/${domain}/message`, { key, json: question('retry limit?') });
  const spent = async () => {
    const { rows } = await database.pool.query<{ micros: number }>(
      'select cost_micros::int as micros from organization_spending where organization_id = $1',
      [busy.site.organizationId],
    );
    return rows[0]?.micros ?? 0;
  };

  expect((await ask(busy)).status).toBe(200);
  const first = await spent();
  expect(first).toBeGreaterThan(0);
  // the reservation for an answer is far above its actual cost, and the difference is released
  expect(first).toBeLessThan(2_000);

  await database.pool.query('update organization_spending set cost_micros = 499999');
  expect((await ask(busy)).status).toBe(200);
  const refused = await ask(busy);
  expect(refused.status).toBe(429);
  expect(refused.body.error).toMatch(/\(DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY\), .+ or after 00:00 UTC\.$/);
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
  expect((await ask(quiet)).status).toBe(200);
  expect(await spent()).toBeLessThan(502_000);
});

it('exceeds a budget by at most one call, whose maximum length the model is sent', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  const usage = { inputTokens: 1_000, outputTokens: 8_000 };
  const toolCalls = [{ name: 'search', input: { query: 'retry' } }];
  model.respondWith({ text: 'Let me see. ', toolCalls, usage });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
    DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '0.5',
  };
  await using api = await serveApi(database.pool, env, { maxLoopDelayMs: 60_000 });
  const { site, assistantKey: key } = await buildIndexedSite(database.pool);
  const ask = () => api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json: question('retry limit?') });
  const { status, text } = await ask();
  expect([status, model.requests.length]).toEqual([200, 2]);
  expect(textOf(text)).toContain('Let me see.');
  expect(text).toContain('has reached its daily budget for jobs and answers');
  expect(model.requests.map(({ body }) => body)).toEqual([
    expect.objectContaining({ max_tokens: 8_000 }),
    expect.objectContaining({ max_tokens: 8_000 }),
  ]);
  const { rows } = await database.pool.query('select cost_micros::int as micros from organization_spending');
  expect(rows).toEqual([{ micros: 800_000 }]);
  expect((await ask()).status).toBe(429);
});

it('counts an interrupted answer at the most that it could cost', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  model.script({ text: ['Set ', 'a ', 'limit'], cut: 2 });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 1}}',
  };
  await using api = await serveApi(database.pool, env, { maxLoopDelayMs: 60_000 });
  const { site, assistantKey: key } = await buildIndexedSite(database.pool);
  const json = question('retry limit?');
  const { text } = await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json });
  expect(textOf(text)).toContain('Set');
  expect(text).toContain('was interrupted');
  const { rows } = await database.pool.query('select cost_micros::int as micros from organization_spending');
  expect(rows).toEqual([{ micros: 8_000 }]);
});

it('refuses a project budget above the operator’s, and names the ceiling', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool, {
    DOCKET_MAX_JOB_DOLLARS: '2.50',
    DOCKET_MAX_PROJECT_DOLLARS_PER_DAY: '20',
  });
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const change = (json: object) => api.ask(`/v1/projects/${project.id}`, { method: 'PATCH', key, json });
  expect((await change({ jobBudgetUsd: 2.5, dailyBudgetUsd: 20 })).status).toBe(200);
  const tooMuch = await change({ jobBudgetUsd: 2.6 });
  expect([tooMuch.status, tooMuch.body.error]).toEqual([
    400,
    'jobBudgetUsd must be at most 2.5, which the operator set (DOCKET_MAX_JOB_DOLLARS).',
  ]);
  const repository = 'https://github.com/acme/docs';
  const made = await api.ask('/v1/projects', { key, json: { repository, dailyBudgetUsd: 999_999 } });
  expect([made.status, made.body.error]).toEqual([
    400,
    'dailyBudgetUsd must be at most 20, which the operator set (DOCKET_MAX_PROJECT_DOLLARS_PER_DAY).',
  ]);
});
