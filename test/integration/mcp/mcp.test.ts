import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, pages, publishPages } from '../assistant/site.ts';
import { connectMcp, textOf } from './mcp-client.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool, { baseUrl: 'https://docs.example.com' }));
let client: Client;

beforeAll(async () => {
  await publishPages(database.pool, docs.site, {
    ...pages,
    'prices.md': '---\ntitle: Prices\ntags: [sales]\n---\n\n# Prices\n\nThe purchase price of a heron is 3.\n',
    'staff/rates.md': '---\ngroups: [staff]\n---\n\n# Rates\n\nThe hourly rate is 4.\n',
    'guides/long page.md': `# Long\n\n${'word '.repeat(20_000)}end\n`,
  });
  client = await connectMcp(api, docs);
});
afterAll(() => client?.close());

const call = (name: string, args: Record<string, unknown>) => client.callTool({ name, arguments: args });
const admin = async (path: string) =>
  (await api.ask(`/v1/sites/${docs.site.domain}${path}`, { key: docs.adminKey })).body;

it('introduces itself and its tools', async () => {
  expect(client.getServerVersion()).toMatchObject({ name: 'docket', title: `Documentation of ${docs.site.domain}` });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(['search', 'read_page', 'ask', 'send_feedback']);
  for (const { inputSchema } of tools)
    expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
});

describe('search', () => {
  it('returns passages under a filter, and counts a search that found nothing', async () => {
    const query = 'purchase price of a heron';
    const found = await call('search', { query, pageSize: 1 });
    expect(found.structuredContent).toMatchObject({ passages: [{ path: 'prices' }] });
    expect(JSON.parse(textOf(found))).toEqual(found.structuredContent);
    expect((await call('search', { query, filter: { tag: 'support' } })).structuredContent).toEqual({ passages: [] });
    await expect.poll(async () => (await admin('/searches')).searches).toMatchObject([{ query, count: 1 }]);
  });
});

describe('read_page', () => {
  it('returns Markdown, a long page in parts', async () => {
    expect(textOf(await call('read_page', { path: '/guides/install.md' }))).toContain('npm install widget');
    const first = textOf(await call('read_page', { path: 'guides/long page' }));
    expect(first.length).toBeLessThan(50_100);
    expect(first).toMatch(/The page continues\. Read on with offset 50000\.$/);
    const [second, third] = [50_000, 100_000].map((offset) => call('read_page', { path: 'guides/long page', offset }));
    expect(textOf(await second!)).toContain('Read on with offset 100000.');
    expect(textOf(await third!)).toMatch(/^[word ]+end\s*$/);
  });

  it('finds no page outside the filter', async () => {
    const args = { path: 'prices', filter: { tag: 'support' } };
    expect(await call('read_page', args)).toMatchObject({
      isError: true,
      content: [{ text: 'The page was not found.' }],
    });
    expect(textOf(await call('read_page', { ...args, filter: { tag: 'sales' } }))).toContain('purchase price');
  });
});

describe('ask', () => {
  it('answers with sources, stores the conversation, and takes a rating', async () => {
    const { structuredContent } = await call('ask', { question: 'How do I set the retry limit?' });
    const answered: any = structuredContent;
    expect(answered.answer).toContain('retryLimit');
    expect(answered.sources[0]).toMatchObject({ path: 'guides/retries', title: 'Retries' });
    expect(answered.sources[0].url).toContain('https://docs.example.com/guides/retries');
    expect(answered.citations[0]).toMatchObject({
      sources: [answered.sources[0].id],
      passages: [{ path: 'guides/retries', url: expect.stringContaining('/guides/retries#set-the-retry-limit') }],
      unsupported: [],
    });
    const { threadId, messageId } = answered;
    const more: any = await call('ask', { question: 'And the delay between retries?', threadId });
    expect(more.structuredContent.threadId).toBe(threadId);

    const rating = { threadId, messageId, vote: 'down', reasons: ['incomplete'], comment: 'Which default?' };
    expect((await call('send_feedback', rating)).structuredContent).toEqual(rating);
    const { conversations } = await admin('/conversations');
    expect(conversations).toEqual(
      expect.arrayContaining([expect.objectContaining({ question: 'How do I set the retry limit?', down: 1 })]),
    );
  });

  it('turns a question that the documentation does not answer into a gap', async () => {
    const question = 'How is a zeppelin painted green?';
    expect((await call('ask', { question })).isError).toBeUndefined();
    const { gaps } = await admin('/gaps');
    expect(JSON.stringify(gaps)).toContain(question);
  });
});

describe('resources', () => {
  it('are the pages, in parts', async () => {
    const many = await buildIndexedSite(database.pool);
    const files = Array.from({ length: 101 }, (_, at) => [`p${String(at).padStart(3, '0')}.md`, `# Page ${at}\n`]);
    await publishPages(database.pool, many.site, Object.fromEntries(files));
    const other = await connectMcp(api, many);
    const first = await other.listResources();
    expect(first.resources).toHaveLength(100);
    const second = await other.listResources({ cursor: first.nextCursor });
    expect([second.resources.map(({ title }) => title), second.nextCursor]).toEqual([['Page 100'], undefined]);
    await other.close();

    const { resources } = await client.listResources();
    expect(resources.map(({ name }) => name)).toEqual([
      'guides/install',
      'guides/long page',
      'guides/retries',
      'prices',
    ]);
    for (const { uri } of resources) {
      const { contents } = await client.readResource({ uri });
      expect(contents).toMatchObject([{ uri, mimeType: 'text/markdown', text: expect.stringContaining('# ') }]);
    }
    const { resourceTemplates } = await client.listResourceTemplates();
    expect(resourceTemplates).toMatchObject([{ uriTemplate: `docs://${docs.site.domain}/{+path}` }]);
  });

  it.each([
    'docs://DOMAIN/staff/rates',
    'docs://DOMAIN/secret',
    'docs://DOMAIN/none',
    'docs://other/guides/install',
    'x',
  ])('do not include %s', async (uri) => {
    const reading = client.readResource({ uri: uri.replace('DOMAIN', docs.site.domain) });
    await expect(reading).rejects.toMatchObject({
      code: -32_002,
      message: expect.stringMatching(/The page was not found\.$/),
    });
  });
});
