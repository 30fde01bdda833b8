import { afterAll, beforeAll, expect, it } from 'vitest';
import { evaluationSchema, questionSetSchema } from '../../../api/evaluations/schemas.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { buildIndexedSite, publishPages, type TestSite } from '../assistant/site.ts';

/** Follow-up questions in a language whose words Docket does not know, each with the query that a good model would write. */
const followUps = [
  { page: 'cache', before: 'What is cached?', text: 'Jak go opróżnić?', good: 'How do I empty the cache?' },
  { page: 'logs', before: 'Where are the logs?', text: 'Kiedy to się dzieje?', good: 'When are logs rotated?' },
  {
    page: 'ports',
    before: 'Which port is used?',
    text: 'Jak ustawić inny?',
    good: 'How do I change the port?',
  },
  { page: 'themes', before: 'Are there themes?', text: 'Czy jest też ciemny?', good: 'Is there a dark theme?' },
  { page: 'users', before: 'How do I add users?', text: 'Jak kogoś usunąć?', good: 'How do I remove users?' },
  { page: 'quotas', before: 'What is the quota?', text: 'Kto może więcej?', good: 'Who may exceed the quota?' },
];
const bad = "I'm sorry, which gearbox do you mean?";
const files = {
  'cache.md': '# Cache\n\nTo empty the cache, run `lamp flush`.\n',
  'logs.md': '# Logs\n\nLogs are rotated at midnight.\n',
  'ports.md': '# Ports\n\nTo change the port, set `LAMP_PORT`.\n',
  'themes.md': '# Themes\n\nThe dark theme is called night.\n',
  'users.md': '# Users\n\nTo remove users, run `lamp users remove`.\n',
  'quotas.md': '# Quotas\n\nOwners may exceed the quota.\n',
};

let resources: AsyncDisposableStack;
let database: TestDatabase;
let model: ScriptedModelServer;
let api: ServedApi;
let docs: TestSite;
beforeAll(async () => {
  resources = new AsyncDisposableStack();
  database = resources.use(await createTestDatabase());
  model = resources.use(await startScriptedModelServer());
  model.respondWith(({ body }) => {
    const asked = followUps.find(({ text }) => String(body.messages.at(-1)?.content).includes(text));
    return { text: body.model === 'good' ? (asked?.good ?? '') : bad };
  });
  const env = { OPENAI_COMPATIBLE_BASE_URL: model.baseUrl, OPENAI_COMPATIBLE_API_KEY: 'key' };
  api = resources.use(await serveApi(database.pool, env, { indexPollMs: 50, rewritingMs: 60_000 }));
  docs = await buildIndexedSite(database.pool, { queryRewriting: 'compatible/bad' });
  await publishPages(database.pool, docs.site, files);
});
afterAll(() => resources.disposeAsync());

const admin = (path: string, json?: unknown) =>
  api.ask(`/v1/sites/${docs.site.domain}${path}`, { key: docs.adminKey, json });

async function evaluate(setId: string, configurations: { queryRewriting?: string | null }[]) {
  const started = await admin('/evaluations', { setId, configurations });
  expect(started.status).toBe(201);
  await api.evaluate();
  return evaluationSchema.parse((await admin(`/evaluations/${started.body.id}`)).body);
}

it('tells a model that rewrites well from none, and from one that rewrites badly', async () => {
  const questions = followUps.map(({ page, before, text }) => ({ history: [before], text, expectedPages: [page] }));
  const { body } = await admin('/question-sets', { name: 'Follow-ups', questions });
  const set = questionSetSchema.parse(body);
  expect(set.questions[0]).toMatchObject({ history: ['What is cached?'], text: 'Jak go opróżnić?' });

  const helps = await evaluate(set.id, [{ queryRewriting: null }, { queryRewriting: 'compatible/good' }]);
  expect(helps.configurations).toMatchObject([
    { queryRewriting: null, passed: 0, findsExpected: 0 },
    { queryRewriting: 'compatible/good', passed: 6, findsExpected: 6 },
  ]);
  expect(helps.comparison).toMatchObject({ better: 6, worse: 0, verdict: 'better' });
  expect(helps.results.map(({ answers }) => answers.map((answer) => answer?.searchQuery))).toEqual(
    followUps.map(({ good }) => [null, good]),
  );

  // the second configuration is the site's own
  const harms = await evaluate(set.id, [{ queryRewriting: 'compatible/good' }, {}]);
  expect(harms.configurations[1]).toMatchObject({ queryRewriting: 'compatible/bad', passed: 0 });
  expect(harms.comparison).toMatchObject({ better: 0, worse: 6, verdict: 'worse' });
  expect(harms.results[0]?.answers[1]?.searchQuery).toBe(bad);

  const offline = { setId: set.id, configurations: [{ queryRewriting: 'offline/extract' }] };
  expect((await admin('/evaluations', offline)).status).toBe(400);
});

it('takes a follow-up question from a conversation with the questions before it', async () => {
  const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
  const texts = ['How do I empty the cache?', 'Which command\nremoves users?'];
  let threadId: string | null = null;
  for (const at of texts.keys()) {
    const messages = texts.slice(0, at + 1).map((content) => ({ role: 'user', content }));
    const json: object = { fp: 'anonymous', threadId, messages };
    model.respondWith({ text: 'Which command removes users?' });
    threadId = (await api.ask(path, { key: docs.assistantKey, json })).headers.get('x-thread-id');
  }
  const { body } = await admin('/question-sets', { name: 'Asked', questions: [{ text: texts[1] }] });
  const added = await admin(`/question-sets/${body.id}/questions`, { from: 'conversations' });
  const { questions } = questionSetSchema.parse(added.body);
  expect(questions.map(({ history, text }) => ({ history, text }))).toEqual([
    { history: [], text: texts[1] },
    { history: [texts[0]], text: texts[1] },
    { history: [], text: texts[0] },
  ]);
});

it('reads sets and evaluations of earlier versions, whose questions have no history', async () => {
  const question = { text: 'Old?', expectedPages: [], expectedFacts: [], expectsAnswer: false, origin: 'manual' };
  const { body } = await admin('/question-sets', { name: 'Old', questions: [question] });
  await database.pool.query('update question_sets set questions = $2 where id = $1', [
    body.id,
    JSON.stringify([question]),
  ]);
  const read = questionSetSchema.parse((await admin(`/question-sets/${body.id}`)).body);
  expect(read.questions).toEqual([{ history: [], ...question }]);
  const { results, configurations } = await evaluate(body.id, [{ queryRewriting: null }]);
  expect([results[0]?.history, configurations[0]?.queryRewriting]).toEqual([[], null]);
});
