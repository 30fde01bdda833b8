import type { ServerResponse } from 'node:http';
import { beforeAll, expect, it } from 'vitest';
import { UnknownModelError } from '../../../models/registry.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startRerankingServer } from '../../support/servers/reranking-server.ts';
import { serveApi, type ServedApi } from '../api/serve.ts';
import { buildIndexedSite, eventsOf, publishPages, question } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const files = Object.fromEntries([
  ...Array.from({ length: 60 }, (_, at) => [
    `retries/${at}.md`,
    `# Retries ${at}\n\nA failed request is sent again. ${'Retries are repeated. '.repeat(200)}\n`,
  ]),
  ['quota.md', '# Quota\n\nRetries count against the zebra quota.\n'],
]);

const database = ofFile(createTestDatabase);
const server = ofFile(() => startRerankingServer('zebra'));
const plain = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
beforeAll(async () => {
  await publishPages(database.pool, docs.site, files);
});

/** Each API has its own record of a model that failed. */
const serveReranked = (rerankingMs = 60_000) =>
  serveApi(
    database.pool,
    {
      DOCKET_RERANKING_MODEL: 'cohere/rerank-v3.5',
      COHERE_API_KEY: 'key-of-cohere',
      COHERE_BASE_URL: server.baseUrl,
    },
    { rerankingMs },
  );

async function search(api: ServedApi, query: string, pageSize: number) {
  const json = { query, pageSize };
  return (await api.ask(`/discovery/v1/search/${docs.site.domain}`, { key: docs.assistantKey, json })).text;
}

const pathsOf = (text: string) => (JSON.parse(text) as { path: string }[]).map(({ path }) => path);

it('orders the passages of searches and answers, of which it sends 50 and the beginning of each', async () => {
  await using api = await serveReranked();
  server.seen.length = 0;
  const query = 'retries of a request that count against the quota';
  expect(pathsOf(await search(api, query, 3))[0]).toBe('quota');
  const [{ documents, ...sent } = { documents: [] }] = server.seen;
  expect(sent).toMatchObject({
    path: '/v2/rerank',
    model: 'rerank-v3.5',
    query,
    authorization: 'Bearer key-of-cohere',
  });
  expect(documents).toHaveLength(50);
  expect(Math.max(...documents.map(({ length }) => length))).toBe(2_000);

  const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
  const answer = await api.ask(path, { key: docs.assistantKey, json: question(query) });
  expect(eventsOf(answer.text).find(({ type }) => type === 'source-url')?.['url']).toContain('quota');
  expect(server.seen).toHaveLength(2);
  expect(api.log()).not.toContain('key-of-cohere');
});

it('reads the question before, when a question needs it', async () => {
  await using api = await serveReranked();
  server.seen.length = 0;
  const messages = ['How are requests sent again?', 'And how often are they repeated?'].map((text, at) => ({
    id: String(at),
    role: 'user',
    parts: [{ type: 'text', text }],
  }));
  const json = { fp: 'anonymous', messages };
  await api.ask(`/discovery/v2/assistant/${docs.site.domain}/message`, { key: docs.assistantKey, json });
  expect(server.seen.map(({ query }) => query)).toEqual([
    'How are requests sent again?\nAnd how often are they repeated?',
  ]);
});

it('leaves the order as it is when there is nothing to order', async () => {
  await using api = await serveReranked();
  server.seen.length = 0;
  expect(pathsOf(await search(api, 'zebra', 3))).toEqual(['quota']);
  expect(server.seen).toEqual([]);
});

const rank = (indexes: number[], response: ServerResponse) => {
  const results = indexes.map((index) => ({ index, relevance_score: 0.5 }));
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: 'x', results, meta: {} }));
};

const badAnswers: [string, (response: ServerResponse) => unknown, number?][] = [
  ['fails', (response) => response.writeHead(503).end()],
  ['returns no JSON', (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{')],
  ['names a passage that it was not given', (response) => rank([2, 99], response)],
  ['never answers', () => {}, 10],
];

it.each(badAnswers)(
  'returns the same bytes as without a model when it %s, and says so',
  async (_, answer, patienceMs) => {
    await using api = await serveReranked(patienceMs);
    server.control.answer = (_request, response) => answer(response);
    server.seen.length = 0;
    try {
      for (const query of ['retries of a request', 'sent again'])
        expect(await search(api, query, 7)).toBe(await search(plain, query, 7));
    } finally {
      server.control.answer = null;
    }
    expect(api.log()).toContain('ranking without it for a while');
  },
);

it('keeps each passage once when the model names some twice and others not at all', async () => {
  await using api = await serveReranked();
  server.control.answer = (_request, response) => rank([2, 2, 0], response);
  try {
    const [first, second, third, ...rest] = pathsOf(await search(plain, 'retries of a request', 10));
    expect(pathsOf(await search(api, 'retries of a request', 10))).toEqual([third, first, second, ...rest]);
  } finally {
    server.control.answer = null;
  }
});

it('says at startup what is wrong with the name of the model', async () => {
  const starts = (env: Record<string, string>) => serveApi(database.pool, env);
  await expect(starts({ DOCKET_RERANKING_MODEL: 'openai/x' })).rejects.toThrow(
    new UnknownModelError('There is no reranking model provider "openai". The providers are cohere.', 'openai/x'),
  );
  await expect(starts({ DOCKET_RERANKING_MODEL: 'cohere/x' })).rejects.toThrow(/needs COHERE_API_KEY/);
});
