import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluationSchema } from '../../../api/evaluations/schemas.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { buildIndexedSite, type TestSite } from '../assistant/site.ts';

const ofSite = 'Write like a pirate.';
const ofConfiguration = 'Write in one sentence.';
const right = 'Set `retryLimit`.';
const wrong = 'Ask someone.';
const texts = ['How do I set the retry limit?', 'Where is the retry limit?'];

let resources: AsyncDisposableStack;
let database: TestDatabase;
let model: ScriptedModelServer;
let api: ServedApi;
let docs: TestSite;
beforeAll(async () => {
  resources = new AsyncDisposableStack();
  database = resources.use(await createTestDatabase());
  model = resources.use(await startScriptedModelServer());
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/one',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
  };
  api = resources.use(await serveApi(database.pool, env, { indexPollMs: 50 }));
  docs = await buildIndexedSite(database.pool, { instructions: ofSite });
});
afterAll(() => resources.disposeAsync());

const admin = (path: string, json?: unknown) =>
  api.ask(`/v1/sites/${docs.site.domain}${path}`, { key: docs.adminKey, json });

/** Carries out an evaluation, and returns it with the model and the instructions of each request. */
async function evaluate(name: string, configurations: object[]) {
  const questions = texts.map((text) => ({ text, expectedFacts: ['retryLimit'] }));
  const set = await admin('/question-sets', { name, questions });
  const started = await admin('/evaluations', { setId: set.body.id, configurations });
  expect(started.status).toBe(201);
  const before = model.requests.length;
  await api.evaluate();
  const evaluation = evaluationSchema.parse((await admin(`/evaluations/${started.body.id}`)).body);
  const asked = model.requests.slice(before).map(({ body }) => {
    const system = JSON.stringify(body.messages.filter(({ role }) => role === 'system'));
    const question = texts.filter((text) => JSON.stringify(body.messages).includes(text));
    return [body.model, [ofSite, ofConfiguration].filter((text) => system.includes(text)), ...question];
  });
  return { ...evaluation, asked };
}

it('asks the model of each configuration, and tells them apart', async () => {
  model.respondWith(({ body }) => ({ text: body.model === 'two' ? right : wrong }));
  const { asked, configurations, comparison, results } = await evaluate('Models', [
    { model: 'compatible/one' },
    { model: 'compatible/two' },
  ]);
  expect(asked).toEqual(texts.flatMap((text) => ['one', 'two'].map((name) => [name, [ofSite], text])));
  expect(configurations).toMatchObject([
    { model: 'compatible/one', passed: 0 },
    { model: 'compatible/two', passed: 2 },
  ]);
  expect(comparison).toMatchObject({ pairs: 2, better: 2, worse: 0 });
  expect(results.map(({ answers }) => answers.map((answer) => answer?.answer))).toEqual(
    texts.map(() => [wrong, right]),
  );
});

it('asks with the instructions of each configuration, and tells them apart', async () => {
  model.respondWith(({ body }) => ({ text: JSON.stringify(body.messages).includes(ofConfiguration) ? right : wrong }));
  const { asked, configurations, comparison } = await evaluate('Instructions', [{}, { instructions: ofConfiguration }]);
  expect(asked).toEqual(texts.flatMap((text) => [ofSite, ofConfiguration].map((given) => ['one', [given], text])));
  expect(configurations).toMatchObject([
    { instructions: ofSite, passed: 0 },
    { instructions: ofConfiguration, passed: 2 },
  ]);
  expect(comparison).toMatchObject({ pairs: 2, better: 2, worse: 0 });
});

it('asks without instructions when a configuration has none', async () => {
  model.respondWith({ text: right });
  const { asked } = await evaluate('None', [{ instructions: null }]);
  expect(asked).toEqual(texts.map((text) => ['one', [], text]));
});
