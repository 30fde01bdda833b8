import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { UnknownModelError } from '../../../models/registry.ts';
import { createTestDatabase } from '../../support/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, publishPages } from './site.ts';

const pages = {
  'alpha.md': '# Limits of the queue\n\nThe limit of the queue is set by `maxJobs`. The limit counts waiting jobs.\n',
  'beta.md': '# Limits of the cache\n\nThe limit of the cache is set by `maxEntries`. Ostriches are not cached.\n',
};

/** A server for `/embeddings`: any text containing "ostrich" is close to every question. */
async function startEmbeddings() {
  const seen = { calls: 0, isDown: false };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as { input: string[] };
    seen.calls += 1;
    if (seen.isDown) return void response.writeHead(503).end();
    const data = body.input.map((value, index) => ({
      object: 'embedding',
      index,
      embedding: index === 0 || /ostrich/i.test(value) ? [1, 0] : [0, 1],
    }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data, model: 'x', usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    seen,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

it('also ranks by meaning when an embedding model is configured, and by words when it is down', async () => {
  await using database = await createTestDatabase();
  await using embeddings = await startEmbeddings();
  const env = { DOCKET_EMBEDDING_MODEL: 'compatible/embed', OPENAI_COMPATIBLE_BASE_URL: embeddings.baseUrl };
  await using api = await serveApi(database.pool, env);
  await using plain = await serveApi(database.pool);
  const docs = await buildIndexedSite(database.pool);
  await publishPages(database.pool, docs.site, pages);
  const best = async (at: typeof api) => {
    const json = { query: 'limit of the queue or of large birds', pageSize: 1 };
    const answer = await at.ask(`/discovery/v1/search/${docs.site.domain}`, { key: docs.assistantKey, json });
    return (answer.body as { path: string }[])[0]?.path;
  };
  expect(await best(plain)).toBe('alpha');
  await expect.poll(() => best(api), { timeout: 60_000 }).toBe('beta');
  embeddings.seen.isDown = true;
  expect(await best(api)).toBe('alpha');
  const { calls } = embeddings.seen;
  expect(await best(api)).toBe('alpha');
  expect(embeddings.seen.calls).toBe(calls);
});

it('says at startup that a provider has no embedding models', async () => {
  await using database = await createTestDatabase();
  const env = { DOCKET_EMBEDDING_MODEL: 'offline/extract' };
  await expect(serveApi(database.pool, env)).rejects.toThrow(UnknownModelError);
});
