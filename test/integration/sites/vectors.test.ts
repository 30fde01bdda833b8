import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { UnknownModelError } from '../../../models/registry.ts';
import { buildKey, buildOrganization, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { startEmbeddingServer } from '../../support/servers/embedding-server.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { serveApi } from '../api/serve.ts';
import { publishAsOlderFormat, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const model = 'compatible/embed';

const database = ofFile(createTestDatabase);
const server = ofFile(() =>
  startEmbeddingServer([
    ['retry', 'wiederhol', '再試行'],
    ['delete', 'lösch', '削除'],
    ['invoice', 'rechnung', '請求書'],
  ]),
);
const worker = ofFile(() => {
  const settings = { compatible: { baseUrl: server.baseUrl } };
  return startSiteWorker({
    database,
    change: () => ({ embedding: { model, queryPrefix: '', passagePrefix: '', settings } }),
  });
});
const api = ofFile(() =>
  serveApi(database.pool, { DOCKET_EMBEDDING_MODEL: model, OPENAI_COMPATIBLE_BASE_URL: server.baseUrl }),
);

const files = {
  'docs/retries.md': '# Retries\n\nA failed request is sent again: retry it after a second.\n',
  'docs/keys.md': '# Keys\n\nTo delete a key, open the settings.\n',
  'docs/billing.md': '# Billing\n\nAn invoice is sent every month.\n',
};

async function buildRepositorySite() {
  const repository = await createTestRepository(files);
  const organization = await buildOrganization(database.pool);
  const site = await buildSite(database.pool, {
    organizationId: organization.id,
    repository: repository.path,
    path: 'docs',
  });
  const { key } = await buildKey(database.pool, { organizationId: organization.id, kind: 'assistant' });
  return {
    repository,
    site,
    find: async (query: string, at = api) => {
      const answer = await at.ask(`/discovery/v1/search/${site.domain}`, { key, json: { query, pageSize: 3 } });
      return (answer.body as { path: string }[]).map(({ path }) => path);
    },
    report: async () => (await createSiteIndexing(database.pool).get(site.id))?.indexReport?.vectors,
    [Symbol.asyncDispose]: () => repository[Symbol.asyncDispose](),
  };
}

it(
  'finds English pages for questions in other languages, and by words when the model is down',
  { tags: ['slow'] },
  async () => {
    await using docs = await buildRepositorySite();
    await worker.index(docs.site);
    expect(await docs.report()).toEqual({ model, passages: 3, of: 3, problem: null });
    await expect.poll(async () => (await docs.find('Wie lösche ich einen Schlüssel?'))[0]).toBe('keys');
    expect((await docs.find('請求書はいつ届きますか'))[0]).toBe('billing');
    expect((await docs.find('Wiederholung fehlgeschlagener Anfragen'))[0]).toBe('retries');
    expect((await docs.find('invoice'))[0]).toBe('billing');

    await using plain = await serveApi(database.pool);
    expect(await docs.find('Wie lösche ich etwas anderes?', plain)).toEqual([]);
    server.control.answer = (_texts, response) => response.writeHead(503).end();
    try {
      await using other = await serveApi(database.pool, {
        DOCKET_EMBEDDING_MODEL: model,
        OPENAI_COMPATIBLE_BASE_URL: server.baseUrl,
      });
      expect(await docs.find('delete a key', other)).toEqual(['keys']);
    } finally {
      server.control.answer = null;
    }
  },
);

it('embeds a changed page alone, and nothing for an unchanged source', async () => {
  await using docs = await buildRepositorySite();
  await worker.index(docs.site);
  server.seen.texts.length = 0;
  await docs.repository.commit({ 'docs/keys.md': '# Keys\n\nTo delete a key, press the button.\n' });
  await worker.index(docs.site);
  expect(server.seen.texts).toEqual([expect.stringContaining('press the button')]);
  const { calls } = server.seen;
  await worker.index(docs.site);
  expect(server.seen.calls).toBe(calls);
});

it('embeds nothing again when the format of the index is raised', async () => {
  await using docs = await buildRepositorySite();
  await worker.index(docs.site);
  await publishAsOlderFormat(database, docs.site);
  await docs.repository.commit({ 'docs/keys.md': '# Keys\n\nTo delete a key, pull the lever.\n' });
  server.seen.texts.length = 0;
  expect(await worker.index(docs.site)).toMatchObject({ version: 3, pages: 3, changedPages: 3 });
  expect(server.seen.texts).toEqual([expect.stringContaining('pull the lever')]);
  expect(await docs.report()).toEqual({ model, passages: 3, of: 3, problem: null });
});

it('puts the prefixes of the model before queries and passages, and embeds all again for another one', async () => {
  const embedding = {
    model,
    queryPrefix: 'ask:',
    passagePrefix: 'doc:',
    settings: { compatible: { baseUrl: server.baseUrl } },
  };
  await using prefixing = await startSiteWorker({ database, change: () => ({ embedding }) });
  const env = { DOCKET_EMBEDDING_MODEL: model, OPENAI_COMPATIBLE_BASE_URL: server.baseUrl };
  await using prefixed = await serveApi(database.pool, {
    ...env,
    DOCKET_EMBEDDING_QUERY_PREFIX: ' ask: ',
    DOCKET_EMBEDDING_PASSAGE_PREFIX: 'doc:',
  });
  await using docs = await buildRepositorySite();
  await worker.index(docs.site);
  server.seen.texts.length = 0;
  await prefixing.index(docs.site);
  expect(server.seen.texts.sort()).toEqual(
    ['Billing', 'Keys', 'Retries'].map((title) => expect.stringMatching(`^doc: ${title}`)),
  );
  expect(await docs.report()).toEqual({ model, passages: 3, of: 3, problem: null });
  server.seen.texts.length = 0;
  await expect.poll(async () => (await docs.find('Rechnung', prefixed))[0]).toBe('billing');
  expect(server.seen.texts).toEqual(['ask: Rechnung']);
  // those of other passages are not comparable
  await expect.poll(() => docs.find('Rechnung')).toEqual([]);
});

const badAnswers: [string, (texts: string[], response: ServerResponse) => unknown][] = [
  ['fails', (_, response) => response.writeHead(400).end('{"error":{"message":"no"}}')],
  ['returns vectors of different lengths', (texts) => texts.map((_text, at) => Array(at + 2).fill(1))],
  ['returns no directions', (texts) => texts.map(() => [0, 0, 0])],
  ['returns too few vectors', () => [[1, 2, 3]]],
  ['returns text instead of numbers', (texts) => texts.map(() => ['x'])],
  ['floods', (_, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(' '.repeat(5e6))],
];

it.each(badAnswers)(
  'publishes an index by words when the model %s, says so, and continues later',
  { tags: ['slow'] },
  async (_, answer) => {
    await using docs = await buildRepositorySite();
    server.control.answer = answer;
    try {
      await worker.index(docs.site);
    } finally {
      server.control.answer = null;
    }
    expect(await docs.report()).toMatchObject({ passages: 0, of: 3, problem: expect.any(String) });
    expect((await docs.find('delete a key'))[0]).toBe('keys');
    await worker.index(docs.site);
    expect(await docs.report()).toEqual({ model, passages: 3, of: 3, problem: null });
    await expect.poll(async () => (await docs.find('Rechnung'))[0]).toBe('billing');
  },
);

it('says at startup that a provider has no embedding models', async () => {
  const env = { DOCKET_EMBEDDING_MODEL: 'offline/extract' };
  await expect(serveApi(database.pool, env)).rejects.toThrow(UnknownModelError);
});
