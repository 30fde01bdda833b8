import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { startOpenAiServer } from '../../support/servers/openai-server.ts';
import type { ScriptedReply } from '../../support/servers/scripted-model-server.ts';
import {
  ask,
  conversation,
  followUp,
  openRewritingScene,
  outcomesOf,
  query,
  type RewritingScene,
} from './rewriting-scene.ts';

const secret = 'a-secret-that-two-servers-share-0001';

let scene: RewritingScene;
beforeAll(async () => void (scene = await openRewritingScene()));
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(() => {
  scene.model.requests.length = 0;
  scene.model.respondWith(query);
});

/** Inputs of the rewriting model, in the order of its calls. */
const given = () =>
  scene.model.requests
    .filter(({ body }) => body.model === 'rewriter')
    .map(({ body: { messages } }) => JSON.parse(String(messages[1]?.content)) as Record<string, any>);

it('searches for the query of the model, and shows the answering model the words of the reader', async () => {
  scene.model.respondWith(({ body }) => ({
    text: body.model === 'rewriter' ? 'delay between two retries' : 'Set it.',
  }));
  await using api = await scene.serve({ DOCKET_ASSISTANT_MODEL: 'compatible/x' });
  const { answer } = await ask(api, scene.docs);
  const [rewriting, answering] = scene.model.requests.map(({ body }) => body);
  expect(rewriting).toMatchObject({ model: 'rewriter', max_tokens: 300 });
  // strict servers refuse an effort
  expect(rewriting).not.toHaveProperty('reasoning_effort');
  expect(given()).toEqual([
    {
      page: null,
      selectedTexts: [],
      conversation: [
        { role: 'user', text: 'How often is a request retried?' },
        { role: 'assistant', text: 'Three times. See Marigold.' },
      ],
      question: 'Und dazwischen?',
    },
  ]);
  const prompt = String(answering?.messages.at(-1)?.content);
  expect(prompt).toContain('<question>\nUnd dazwischen?\n</question>');
  expect(prompt).toMatch(/^<passages weak-score="[\d.]+" query="delay between two retries">/);
  expect(prompt).toContain('retryDelayMs');

  const threadId = answer.headers.get('x-thread-id');
  const path = `/discovery/v1/assistant/${scene.docs.site.domain}/thread/${threadId}`;
  const { messages } = (await api.ask(path, { key: scene.docs.adminKey })).body;
  expect(messages).toMatchObject([
    { content: 'Und dazwischen?', searchQuery: 'delay between two retries' },
    { content: 'Set it.', searchQuery: null },
  ]);
  expect(await outcomesOf(api)).toEqual({ rewritten: 1 });
});

it.each([
  ['openai/gpt-5', { effort: 'minimal' }],
  ['openai/gpt-5.1', { effort: 'none' }],
  ['openai/o4-mini', { effort: 'low' }],
])('asks %s to reason as little as it can', async (queryRewriting, reasoning) => {
  await using openai = await startOpenAiServer(() => []);
  vi.stubEnv('OPENAI_BASE_URL', openai.baseUrl);
  await using api = await scene.serve({ OPENAI_API_KEY: 'key' });
  await ask(api, await scene.rewritingSite({ queryRewriting }));
  vi.unstubAllEnvs();
  expect(openai.requests).toMatchObject([{ max_output_tokens: 300, reasoning }]);
});

it('finds the page of a question that has none of its words', async () => {
  await using api = await scene.serve();
  expect((await ask(api, scene.plain)).text).toContain('could not find');
  const { text, sources } = await ask(api, scene.docs);
  expect(text).toContain('retryDelayMs');
  expect(sources[0]).toContain('guides/retries');
});

it('is what a gap lists, because the words of a follow-up say nothing on their own', async () => {
  await using api = await scene.serve();
  const site = await scene.rewritingSite();
  scene.model.respondWith({ text: 'How do I train a zebra?' });
  await ask(api, site);
  const { gaps } = (await api.ask(`/v1/sites/${site.site.domain}/gaps`, { key: site.adminKey })).body;
  expect(gaps).toMatchObject([{ questions: [{ text: 'How do I train a zebra?', notFound: 1 }] }]);
});

describe('asks the model', () => {
  const first = { messages: conversation('How do I raise it?') };
  const selected = { context: [{ type: 'textSelection', value: 'retryLimit' }] };

  it.each<[string, Record<string, unknown>]>([
    ['a first question', first],
    ['a first question on a page, which names its subject', { ...first, currentPath: '/nowhere' }],
    ['a page that does not exist', { messages: conversation('How do I rotate logs?'), currentPath: '/guides/logs' }],
    ['a question without text', { messages: [...followUp.slice(0, 2), { role: 'user', content: ' ' }] }],
    ['a very long question', { messages: [...followUp.slice(0, 2), { role: 'user', content: 'why? '.repeat(500) }] }],
  ])('nothing about %s', async (_name, question) => {
    await using api = await scene.serve();
    expect((await ask(api, scene.docs, question)).text).toBe((await ask(api, scene.plain, question)).text);
    expect(scene.model.requests).toEqual([]);
    expect(await outcomesOf(api)).toEqual({});
  });

  it.each<[string, Record<string, unknown>, object]>([
    [
      'the page that a first question refers to',
      { ...first, currentPath: '/guides/logs' },
      { page: { path: 'guides/logs', title: 'Logs' }, question: 'How do I raise it?', conversation: [] },
    ],
    ['selected text', { ...first, ...selected }, { selectedTexts: ['retryLimit'], page: null }],
  ])('about %s', async (_name, question, expected) => {
    await using api = await scene.serve();
    await ask(api, scene.docs, question);
    expect(given()).toEqual([expect.objectContaining(expected)]);
  });

  it('only on a site that wants it', async () => {
    await using api = await scene.serve();
    await ask(api, scene.plain);
    expect(scene.model.requests).toEqual([]);
    await ask(api, scene.docs);
    expect(scene.model.requests).toHaveLength(1);
  });

  it('once about the same conversation, and again on another site', async () => {
    await using api = await scene.serve();
    const other = await scene.rewritingSite();
    const answers = [
      await ask(api, scene.docs),
      await ask(api, scene.docs, { fp: 'someone else' }),
      await ask(api, other),
    ];
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(scene.model.requests).toHaveLength(2);
  });

  it('about the last six messages, of which it sends the beginning', async () => {
    await using api = await scene.serve();
    const long = Array.from({ length: 20 }, (_, at) => `${at} ${'x'.repeat(3_000)}`);
    await ask(api, scene.docs, { messages: conversation(...long, 'And then?') });
    const [{ conversation: sent } = { conversation: [] }] = given();
    expect(sent.map(({ text }: { text: string }) => text.split(' ')[0])).toEqual(['14', '15', '16', '17', '18', '19']);
    expect(sent.map(({ text }: { text: string }) => text.length)).toEqual(Array(6).fill(1_000));
  });
});

const failures: [string, ScriptedReply, string, number?][] = [
  ['fails', { status: 503 }, 'unavailable'],
  ['breaks off', { text: 'delay between', cut: true }, 'unavailable'],
  ['never answers', { stall: true }, 'unavailable', 2_000],
  ['says nothing', { text: ' ' }, 'unusable'],
  ['writes no word', { text: '???' }, 'unusable'],
  ['explains itself', { text: 'Here is the query:\ndelay between two retries' }, 'unusable'],
  ['writes an essay', { text: 'delay between two retries '.repeat(30) }, 'unusable'],
];

it.each(failures)(
  'answers as without a model when it %s, counts it and logs it',
  async (_, reply, outcome, patienceMs) => {
    await using api = await scene.serve({}, patienceMs);
    scene.model.respondWith(reply);
    const messages = conversation('How are logs rotated?', 'Every day.', 'And how do I keep them longer?');
    const [without, answered] = [await ask(api, scene.plain, { messages }), await ask(api, scene.docs, { messages })];
    expect([answered.status, answered.text, answered.sources]).toEqual([200, without.text, without.sources]);
    expect(without.text).toContain('logDays');
    expect(scene.model.requests).toHaveLength(1);
    expect(await outcomesOf(api)).toEqual({ [outcome]: 1 });
    expect(api.log()).toContain(`${patienceMs === undefined ? '' : 'is too slow; '}searching without it`);
    const { rows } = await scene.database.pool.query(
      `select search_query from thread_messages where thread_id = $1 and role = 'user'`,
      [answered.answer.headers.get('x-thread-id')],
    );
    expect(rows).toEqual([{ search_query: null }]);
  },
);

it('leaves a model alone that failed, and asks again after a reply that was no query', async () => {
  await using api = await scene.serve();
  scene.model.respondWith({ text: '' });
  await ask(api, scene.docs);
  await ask(api, scene.docs);
  expect(scene.model.requests).toHaveLength(2);
  scene.model.respondWith({ status: 503 });
  await ask(api, scene.docs);
  await ask(api, scene.docs);
  expect(scene.model.requests).toHaveLength(3);
  expect(await outcomesOf(api)).toEqual({ unusable: 2, unavailable: 2 });
});

it('shows the model only a page that the reader may see', async () => {
  await using api = await scene.serve();
  const site = await scene.rewritingSite();
  const readerTokens = { algorithm: 'HS256', issuer: 'https://app.example.com', secret };
  const path = `/v1/sites/${site.site.domain}`;
  await api.ask(path, { method: 'PATCH', key: site.adminKey, json: { readerTokens } });
  const signed = new SignJWT({ groups: ['staff'] }).setProtectedHeader({ alg: 'HS256' }).setIssuer(readerTokens.issuer);
  const token = signed.setAudience(site.site.domain).setIssuedAt().setExpirationTime('5m').sign(Buffer.from(secret));
  const headers = { 'X-Reader-Token': await token };
  const question = { currentPath: '/staff/rates', messages: conversation('Retries?', 'Yes.', 'How many?') };
  const page = { path: 'staff/rates', title: 'Marigold rates' };

  await ask(api, site, question);
  await ask(api, site, { ...question, headers, filter: { groups: ['partners'] } });
  expect(given().map((one) => one['page'])).toEqual([null]);
  expect(JSON.stringify(scene.model.requests)).not.toMatch(/marigold/i);
  await ask(api, site, { ...question, headers });
  expect(given().at(-1)).toMatchObject({ page });
  // without a conversation, there is nothing else to refer to
  await ask(api, site, { currentPath: '/staff/rates', messages: conversation('How do I raise it?') });
  expect(given()).toHaveLength(2);
});
