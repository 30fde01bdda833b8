import { beforeEach, describe, expect, it } from 'vitest';
import { buildKey, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { untilEarlyIn } from '../../support/early-in.ts';
import { startScriptedModelServer, type RecordedRequest } from '../../support/servers/scripted-model-server.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, eventsOf, pages, publishPages, question, textOf } from './site.ts';

beforeEach(() => untilEarlyIn('day'));

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
  await using api = await serveApi(database.pool, env);
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

it('charges input that the provider has cached at its own price', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  model.respondWith({ text: 'Set it.', usage: { inputTokens: 1_000, cachedTokens: 900, outputTokens: 1 } });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 10, "cachedInput": 1, "output": 0}}',
  };
  await using api = await serveApi(database.pool, { ...env, DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '1' });
  const { site, assistantKey: key } = await buildIndexedSite(database.pool);
  await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json: question('retry limit?') });
  const { rows } = await database.pool.query('select cost_micros::int as micros from organization_spending');
  expect(rows).toEqual([{ micros: 100 * 10 + 900 }]);
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
  await using api = await serveApi(database.pool, env);
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

describe("a site's budget", () => {
  const notice =
    'Until 00:00 UTC, answers quote the documentation: the budget of this site for written answers is spent.';
  /** A call is reserved at $0.40 and costs as much, since it writes as much as it may. */
  const env = (baseUrl: string) => ({
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
  });
  const usage = { inputTokens: 1_000, outputTokens: 8_000 };

  it('is never exceeded by questions at the same time, and then answers quote the documentation', async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    model.respondWith({ text: 'Set `retryLimit`.', usage });
    await using api = await serveApi(database.pool, env(model.baseUrl));
    const docs = await buildIndexedSite(database.pool);
    const other = await buildSite(database.pool, { organizationId: docs.organizationId });
    await publishPages(database.pool, other, pages);
    const set = { method: 'PATCH', key: docs.adminKey, json: { answerBudgetUsd: 1.1 } };
    expect((await api.ask(`/v1/sites/${docs.site.domain}`, set)).body.answerBudgetUsd).toBe(1.1);
    const ask = (version: 'v1' | 'v2', domain = docs.site.domain) =>
      api.ask(`/discovery/${version}/assistant/${domain}/message`, {
        key: docs.assistantKey,
        json: question('retry limit?'),
      });

    const answers = await Promise.all(Array.from({ length: 12 }, () => ask('v2')));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    const written = answers.filter(({ text }) => textOf(text) === 'Set `retryLimit`.');
    const quoted = answers.filter(({ text }) => textOf(text).startsWith(`${notice}\n\nFrom [Retries`));
    expect([written.length, quoted.length, model.requests.length]).toEqual([2, 10, 2]);
    expect(eventsOf(quoted[0]!.text).find(({ type }) => type === 'source-url')?.url).toContain('guides/retries');
    expect(model.requests[0]!.body).toMatchObject({ max_tokens: 8_000 });
    const { rows } = await database.pool.query('select cost_micros::int as micros from site_spending');
    expect(rows).toEqual([{ micros: 800_000 }]);
    const used = await database.pool.query(
      `select model, count(*)::int from thread_messages where role = 'assistant' group by 1 order by 1`,
    );
    expect(used.rows).toEqual([
      { model: 'compatible/x', count: 2 },
      { model: 'offline/extract', count: 10 },
    ]);
    expect((await ask('v1')).text).toContain('0:"Until "');
    // another site of the organization has a budget of its own
    expect(textOf((await ask('v2', other.domain)).text)).toBe('Set `retryLimit`.');
  });

  it('that is spent during an answer lets the extractive model finish it', async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    model.respondWith({ text: 'Let me see.', toolCalls: [{ name: 'search', input: { query: 'retry' } }], usage });
    await using api = await serveApi(database.pool, env(model.baseUrl));
    const { site, assistantKey: key } = await buildIndexedSite(database.pool, { answerBudgetMicros: 500_000 });
    const json = question('retry limit?');
    const { text } = await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json });
    expect(textOf(text)).toMatch(new RegExp(`^Let me see\\.\n\n${notice.replace('.', '\\.')}\n\nFrom \\[Retries`));
    expect(model.requests).toHaveLength(1);
    expect(text).not.toContain('"type":"error"');
  });

  it('may not exceed the operator’s, which also holds', async () => {
    await using database = await createTestDatabase();
    await using model = await startScriptedModelServer();
    model.respondWith({ text: 'Set `retryLimit`.', usage });
    const ceiling = { DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '0.5' };
    await using api = await serveApi(database.pool, { ...env(model.baseUrl), ...ceiling });
    const { site, adminKey, assistantKey: key } = await buildIndexedSite(database.pool, { answerBudgetMicros: 5e6 });
    const set = (answerBudgetUsd: number) =>
      api.ask(`/v1/sites/${site.domain}`, { method: 'PATCH', key: adminKey, json: { answerBudgetUsd } });
    const refused = await set(0.6);
    expect([refused.status, refused.body.error]).toEqual([
      400,
      'answerBudgetUsd must be at most 0.5, the limit that the operator set (DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY).',
    ]);
    const ask = () => api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json: question('retries?') });
    expect([(await ask()).status, (await ask()).status]).toEqual([200, 200]);
    const spent = await ask();
    const seconds = Number(spent.headers.get('retry-after'));
    const untilMidnight = (86_400_000 - (Date.now() % 86_400_000)) / 1_000;
    expect([spent.status, Math.abs(seconds - untilMidnight) < 5]).toEqual([429, true]);
    expect((await set(0.5)).status).toBe(200);
  });
});

describe('a call without an answer', () => {
  const longText = 'lorem ipsum '.repeat(500);

  /** A site whose budget admits one call at a time, and its model at 3 dollars for input and 15 for output. */
  async function openScene() {
    await using resources = new AsyncDisposableStack();
    const database = resources.use(await createTestDatabase());
    const model = resources.use(await startScriptedModelServer());
    const api = resources.use(
      await serveApi(database.pool, {
        DOCKET_ASSISTANT_MODEL: 'compatible/x',
        OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
        OPENAI_COMPATIBLE_API_KEY: 'key',
        DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 3, "output": 15}}',
      }),
    );
    const { site, assistantKey: key } = await buildIndexedSite(database.pool, { answerBudgetMicros: 200_000 });
    const path = `/discovery/v2/assistant/${site.domain}/message`;
    const running = resources.move();
    return {
      model,
      ask: () => api.ask(path, { key, json: question('retry limit?') }),
      open: (signal: AbortSignal) =>
        fetch(`${api.url}${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify(question('retry limit?')),
          signal,
        }),
      async spent() {
        const { rows } = await database.pool.query<{ micros: number[] }>(
          `select array(select cost_micros::int from site_spending union all
                        select cost_micros::int from organization_spending) as micros`,
        );
        return rows[0]?.micros ?? [];
      },
      /** Costs of the stored answers. */
      async stored() {
        const { rows } = await database.pool.query<{ micros: number }>(
          `select cost_micros::int as micros from thread_messages where role = 'assistant'`,
        );
        return rows.map(({ micros }) => micros);
      },
      [Symbol.asyncDispose]: () => running.disposeAsync(),
    };
  }

  /** The likely cost of a request and of the part of its answer that had arrived. */
  function likelyMicros({ body }: RecordedRequest, received: number): number {
    return (JSON.stringify(body).length / 3.5) * 3 + (received / 3.5) * 15;
  }

  it('costs what was sent and received when it breaks off', async () => {
    await using scene = await openScene();
    scene.model.respondWith({ text: [longText, longText, longText], cut: 3 });
    const { text } = await scene.ask();
    expect(text).toContain('was interrupted');
    const [ofSite = 0, ofOrganization] = await scene.spent();
    expect(ofOrganization).toBe(ofSite);
    expect(ofSite / likelyMicros(scene.model.requests[0]!, 2 * longText.length)).toBeCloseTo(1, 1);
    expect(await scene.stored()).toEqual([ofSite]);
  });

  it('costs what was sent and received when its reader disconnects', async () => {
    await using scene = await openScene();
    scene.model.respondWith({ text: ['Set ', 'a ', 'limit'], stall: 2 });
    for (let reader = 1; reader <= 3; reader += 1) {
      const controller = new AbortController();
      const { body } = await scene.open(controller.signal);
      const chunks = body!.pipeThrough(new TextDecoderStream()).getReader();
      let seen = '';
      for (let next = await chunks.read(); !next.done; next = await chunks.read()) {
        seen += next.value;
        if (seen.includes('Set ')) break;
      }
      expect(seen).toContain('Set ');
      controller.abort();
      await expect.poll(scene.stored).toHaveLength(reader);
    }
    const [micros = 0] = await scene.spent();
    expect(micros / (3 * likelyMicros(scene.model.requests[0]!, 4))).toBeCloseTo(1, 1);
  });

  it('costs nothing when it is refused, or when the model cannot be reached', async () => {
    await using scene = await openScene();
    scene.model.respondWith({ status: 529 });
    expect((await scene.ask()).text).toContain('was interrupted');
    expect(await scene.spent()).toEqual([0, 0]);
    await scene.model[Symbol.asyncDispose]();
    for (let attempt = 1; attempt <= 3; attempt += 1) expect((await scene.ask()).text).toContain('was interrupted');
    expect(await scene.spent()).toEqual([0, 0]);
    expect(await scene.stored()).toEqual([0, 0, 0, 0]);
  });
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
    'jobBudgetUsd must be at most 2.5, the limit that the operator set (DOCKET_MAX_JOB_DOLLARS).',
  ]);
  const repository = 'https://github.com/acme/docs';
  const made = await api.ask('/v1/projects', { key, json: { repository, dailyBudgetUsd: 999_999 } });
  expect([made.status, made.body.error]).toEqual([
    400,
    'dailyBudgetUsd must be at most 20, the limit that the operator set (DOCKET_MAX_PROJECT_DOLLARS_PER_DAY).',
  ]);
});
