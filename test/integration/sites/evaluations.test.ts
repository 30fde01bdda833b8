import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createEvaluationRuns } from '../../../api/evaluations/run-evaluations.ts';
import { evaluationSchema, questionSetSchema } from '../../../api/evaluations/schemas.ts';
import { createEvaluationRunStore } from '../../../db/for-service/evaluation-runs.ts';
import { createSiteStore } from '../../../db/sites/sites.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { buildIndexedSite, eventsOf, question, type TestSite } from '../assistant/site.ts';

const times = { indexPollMs: 50 };

/** Requests of an administrator of a site. */
function administer(api: ServedApi, { site, adminKey: key }: TestSite) {
  const ask = (path: string, request: { json?: unknown; method?: string } = {}) =>
    api.ask(`/v1/sites/${site.domain}${path}`, { key, ...request });
  return {
    ask,
    async createSet(questions: object[], name = 'Basics') {
      const { body } = await ask('/question-sets', { json: { name, questions } });
      return questionSetSchema.parse(body);
    },
    async start(setId: string, configurations?: object[]) {
      const { status, body } = await ask('/evaluations', { json: { setId, configurations } });
      expect(status).toBe(201);
      return evaluationSchema.parse(body);
    },
    read: async (id: string) => evaluationSchema.parse((await ask(`/evaluations/${id}`)).body),
  };
}

const retries = {
  text: 'How do I set the retry limit?',
  expectedPages: ['/guides/retries.rst'],
  expectedFacts: ['retryLimit', '3'],
};

it('compares two configurations by question, with intervals', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool, {}, times);
  const docs = await buildIndexedSite(database.pool);
  const admin = administer(api, docs);
  const set = await admin.createSet([
    retries,
    { text: 'How do I install the widget?', expectedFacts: ['yarn add widget'] },
    { text: 'How do I paint the gearbox?', expectsAnswer: false },
  ]);
  const started = await admin.start(set.id, [{}, { retrievalPageSize: 1 }]);
  expect(started).toMatchObject({ state: 'running', questions: 3, asked: 0 });
  expect((await admin.ask('/evaluations', { json: { setId: set.id } })).status).toBe(409);
  await api.evaluate();
  const { configurations, comparison, results, ...ended } = await admin.read(started.id);
  expect(ended).toMatchObject({ state: 'completed', asked: 6, notice: null, indexVersions: [1] });
  expect(configurations[0]).toMatchObject({
    model: 'offline/extract',
    retrievalPageSize: 5,
    asked: 3,
    passed: 2,
    answered: 2,
    citesExpected: 1,
    findsExpected: 1,
    withExpectedPages: 1,
    costUsd: 0,
  });
  expect(configurations[0]?.interval.low).toBeCloseTo(0.208, 2);
  expect(configurations[0]?.interval.high).toBeCloseTo(0.939, 2);
  expect(comparison).toMatchObject({ pairs: 3, pValue: 1, verdict: 'undecided' });
  const { share, low, high } = comparison!.difference!;
  expect([low <= share, share <= high, share]).toEqual([true, true, expect.any(Number)]);
  expect(results.map(({ answers }) => answers[0]?.passed)).toEqual([true, false, true]);
  expect(results[1]?.answers[0]?.missingFacts).toEqual(['yarn add widget']);
  // questions of an evaluation leave no conversations and no figures
  for (const table of ['threads', 'site_facts'])
    expect((await database.pool.query(`select from ${table} where site_id = $1`, [docs.site.id])).rowCount).toBe(0);

  await admin.ask(`/question-sets/${set.id}`, { method: 'DELETE' });
  expect(await admin.read(started.id)).toMatchObject({ setId: null, setName: 'Basics', asked: 6 });
  expect((await admin.ask('/evaluations')).body.evaluations).toHaveLength(1);
});

it('takes questions from conversations, feedback and gaps, each once', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool, {}, times);
  const docs = await buildIndexedSite(database.pool);
  const admin = administer(api, docs);
  const ask = async (text: string, fp = 'anonymous') => {
    const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
    const events = eventsOf((await api.ask(path, { key: docs.assistantKey, json: question(text, { fp }) })).text);
    return {
      messageId: events.find(({ type }) => type === 'start')?.['messageId'],
      threadId: events.find(({ type }) => type === 'finish')?.['messageMetadata']?.threadId,
    };
  };
  const rated = await ask(retries.text);
  await ask('How do I install the widget?');
  await ask('What is the default delay?', 'playground');
  await ask('How do I paint the gearbox?');
  const vote = { key: docs.assistantKey, json: { ...rated, vote: 'up' } };
  expect((await api.ask(`/discovery/v2/assistant/${docs.site.domain}/feedback`, vote)).status).toBe(200);
  const { id } = await admin.createSet([]);
  const add = async (from: string) =>
    questionSetSchema.parse((await admin.ask(`/question-sets/${id}/questions`, { json: { from } })).body).questions;
  expect(await add('feedback')).toMatchObject([
    { text: retries.text, expectedPages: ['guides/retries'], origin: 'feedback', expectsAnswer: true },
  ]);
  expect((await add('gaps')).map(({ text, origin }) => [text, origin])).toEqual([
    [retries.text, 'feedback'],
    ['How do I paint the gearbox?', 'gap'],
  ]);
  const all = await add('conversations');
  expect(all.map(({ text }) => text)).toEqual([
    retries.text,
    'How do I paint the gearbox?',
    'How do I install the widget?',
  ]);
  expect(await add('conversations')).toEqual(all);
  expect((await admin.ask('/question-sets', { json: { name: 'Basics' } })).status).toBe(409);
  const empty = await admin.createSet([], 'Empty');
  expect((await admin.ask('/evaluations', { json: { setId: empty.id } })).status).toBe(400);
  const unknown = { setId: id, configurations: [{ model: 'nowhere/x' }] };
  expect((await admin.ask('/evaluations', { json: unknown })).status).toBe(400);
});

it('continues after a kill where it was, and asks nothing again that has a result', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  model.respondWith({ text: 'Set `retryLimit`.' });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
  };
  await using api = await serveApi(database.pool, env, times);
  const docs = await buildIndexedSite(database.pool);
  const admin = administer(api, docs);
  const texts = ['One?', 'Two?', 'Three?'];
  const set = await admin.createSet(texts.map((text) => ({ text })));
  const { id } = await admin.start(set.id);

  // a process that ends during its second answer: it holds the lease, and never says anything again
  const reached = Promise.withResolvers<void>();
  const evaluationRuns = createEvaluationRunStore(database.pool);
  let asked = 0;
  const killed = createEvaluationRuns({
    evaluationRuns,
    sites: createSiteStore(database.pool),
    indexes: { lease: async () => ({ version: 1, release: () => undefined, index: Object.create(null) }) },
    assistantOf: () => ({
      async reply() {
        asked += 1;
        if (asked === 2) {
          reached.resolve();
          await new Promise(() => undefined);
        }
        return {
          messageId: 'm',
          threadId: 't',
          question: 'q',
          searchQuery: null,
          results: [],
          usage: () => ({ inputTokens: 0, outputTokens: 0 }),
          modelName: () => 'compatible/x',
          exceedsBudget: () => false,
          costMicros: () => 5,
          async run(take) {
            await take({ type: 'text', text: 'The first.' });
          },
        };
      },
    }),
    log: pino({ level: 'silent' }),
    stopping: new AbortController().signal,
  });
  void killed();
  await reached.promise;
  await api.evaluate();
  expect(await admin.read(id)).toMatchObject({ state: 'running', asked: 1 });
  await database.pool.query('update evaluations set claimed_until = now()');
  await api.evaluate();
  const { state, results, configurations } = await admin.read(id);
  expect([state, model.requests.length]).toEqual(['completed', 2]);
  expect(results.map(({ answers }) => answers[0]?.answer)).toEqual([
    'The first.',
    'Set `retryLimit`.',
    'Set `retryLimit`.',
  ]);
  expect(configurations[0]).toMatchObject({ asked: 3, costUsd: 0.000005 });
  // what the first process may still record does not count twice
  const late = { position: 1, side: 0, answer: 'Late.', cited: [], found: [], answered: true, missingFacts: [] };
  const rest = {
    searchQuery: null,
    citesExpected: null,
    findsExpected: null,
    passed: true,
    costMicros: 1,
    durationMs: 1,
    indexVersion: 1,
  };
  expect(await evaluationRuns.record(id, { ...late, ...rest }, { seconds: 1 })).toBe(false);
});

it("stays within the site's budget: what is left waits for the next day, and another model's answers do not count", async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  // a call is reserved at $0.40 and costs as much
  model.respondWith({ text: 'Set `retryLimit`.', usage: { inputTokens: 1_000, outputTokens: 8_000 } });
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
  };
  await using api = await serveApi(database.pool, env, times);
  const docs = await buildIndexedSite(database.pool);
  const admin = administer(api, docs);
  await admin.ask('', { method: 'PATCH', json: { answerBudgetUsd: 0.9 } });
  const set = await admin.createSet(['One?', 'Two?', 'Three?'].map((text) => ({ text })));
  const { id } = await admin.start(set.id);
  await api.evaluate();
  const waiting = await admin.read(id);
  expect(waiting).toMatchObject({ state: 'running', asked: 2, configurations: [{ costUsd: 0.8 }] });
  expect(waiting.notice).toMatch(/continues after 00:00 UTC/);
  const { rows } = await database.pool.query(
    `select claimed_until > date_trunc('day', now() at time zone 'utc') at time zone 'utc' + interval '1 day' as "isTomorrow" from evaluations`,
  );
  expect(rows).toEqual([{ isTomorrow: true }]);
  await database.pool.query('delete from site_spending; update evaluations set claimed_until = now()');
  await api.evaluate();
  expect(await admin.read(id)).toMatchObject({ state: 'completed', notice: null, asked: 3 });
});

it("ends when the site's budget of a day admits no call", async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
  };
  await using api = await serveApi(database.pool, env, times);
  const docs = await buildIndexedSite(database.pool, { answerBudgetMicros: 399_999 });
  const admin = administer(api, docs);
  const set = await admin.createSet([{ text: 'One?' }]);
  const { id } = await admin.start(set.id);
  await api.evaluate();
  const notice =
    "One call of compatible/x may cost more than the site's daily budget for answers. Raise the budget and start another evaluation.";
  expect(await admin.read(id)).toMatchObject({ state: 'failed', notice, asked: 0 });
  expect(model.requests).toEqual([]);
});

it('ends when the model fails again and again, or when it is stopped, and keeps its answers', async () => {
  await using database = await createTestDatabase();
  await using model = await startScriptedModelServer();
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
  };
  await using api = await serveApi(database.pool, env, times);
  const docs = await buildIndexedSite(database.pool);
  const admin = administer(api, docs);
  const set = await admin.createSet([{ text: 'One?' }, { text: 'Two?' }]);
  const { id } = await admin.start(set.id);
  const failTimes = async (rounds: number) => {
    model.respondWith({ status: 401 });
    for (let round = 1; round <= rounds; round += 1) {
      expect((await admin.read(id)).state).toBe('running');
      await api.evaluate();
      await database.pool.query('update evaluations set claimed_until = now()');
    }
  };
  await failTimes(4);
  // an answer ends the row
  let answers = 0;
  model.respondWith(() => ((answers += 1) === 1 ? { text: 'Yes.' } : { status: 401 }));
  await api.evaluate();
  await database.pool.query('update evaluations set claimed_until = now()');
  expect(await admin.read(id)).toMatchObject({ state: 'running', asked: 1 });
  await failTimes(4);
  const failed = { state: 'failed', asked: 1, notice: 'The model failed five times in a row.' };
  expect(await admin.read(id)).toMatchObject(failed);

  const other = await admin.start(set.id);
  const { body } = await admin.ask(`/evaluations/${other.id}/stop`, { method: 'POST' });
  expect([body.state, body.asked]).toEqual(['stopped', 0]);
  await api.evaluate();
  expect((await admin.read(other.id)).state).toBe('stopped');
});
