import { beforeAll, describe, expect, it } from 'vitest';
import { createThreadStore } from '../../../db/sites/threads.ts';
import { buildKey, buildOrganization, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite, eventsOf, publishPages, question, textOf } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));
const docs = ofFile(() => buildIndexedSite(database.pool, { baseUrl: 'https://docs.example.com' }));
let path: (version: 'v1' | 'v2') => string;

beforeAll(async () => {
  path = (version) => `/discovery/${version}/assistant/${docs.site.domain}/message`;
});

function ask(text: string, more: Record<string, unknown> = {}, headers: Record<string, string> = {}) {
  return api.ask(path('v2'), { key: docs.assistantKey, json: question(text, more), headers });
}

describe('a question', () => {
  it('is answered from the pages, with its source before the text and the thread before and after', async () => {
    const answer = await ask('How do I change the retry limit?', { trigger: 'submit-message' });
    expect(answer.status).toBe(200);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-vercel-ai-ui-message-stream': 'v1',
      'access-control-allow-origin': '*',
    });
    const events = eventsOf(answer.text);
    expect(events.map(({ type }) => type).filter((type) => type !== 'text-delta')).toEqual([
      'start',
      'start-step',
      'source-url',
      'text-start',
      'text-end',
      'finish-step',
      'finish',
    ]);
    const threadId = answer.headers.get('x-thread-id');
    expect(events[0]?.['messageMetadata']).toEqual({ threadId });
    expect(events.at(-1)).toEqual({ type: 'finish', messageMetadata: { threadId } });
    expect(events[2]).toMatchObject({
      url: expect.stringMatching(/^https:\/\/docs\.example\.com\/guides\/retries/),
      title: 'Retries',
    });
    expect(textOf(answer.text)).toContain('retryLimit');
    expect(answer.text.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('puts the thread at the top of finish for a reader without the SDK', async () => {
    const plain = { fp: 'x', messages: [{ role: 'user', content: 'retry limit?' }] };
    const answer = await api.ask(path('v2'), { key: docs.assistantKey, json: plain });
    expect(eventsOf(answer.text).at(-1)).toHaveProperty('threadId');
    const browser = await api.ask(path('v2'), {
      key: docs.assistantKey,
      json: plain,
      headers: { origin: 'https://a.example' },
    });
    expect(eventsOf(browser.text).at(-1)).not.toHaveProperty('threadId');
  });

  it('is answered to a v4 client in its own format', async () => {
    const answer = await api.ask(path('v1'), {
      key: docs.assistantKey,
      json: { fp: 'x', messages: [{ role: 'user', content: 'How do I change the retry limit?' }] },
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'x-vercel-ai-data-stream': 'v1',
    });
    const codes = answer.text
      .split('\n')
      .filter(Boolean)
      .map((line) => line.slice(0, 2));
    expect([...new Set(codes)]).toEqual(['0:', '2:', '8:', 'e:', 'd:']);
  });

  it('is refused in one sentence when the documentation does not answer it', async () => {
    const answer = await ask('Which chocolate cake recipe wins prizes in Vienna?');
    expect(textOf(answer.text)).toContain('I could not find this in the documentation.');
    expect(eventsOf(answer.text).some(({ type }) => type === 'source-url')).toBe(false);
  });

  it('finds nothing on a hidden page', async () => {
    const answer = await ask('What is the hidden launch code?');
    expect(answer.text).not.toContain('4711');
  });

  it('gets nothing for an unknown filter value, and everything for unknown filter fields', async () => {
    const unknown = await ask('How do I change the retry limit?', { filter: { version: 'v99' } });
    expect(textOf(unknown.text)).toContain('could not find');
    const ignored = await ask('How do I change the retry limit?', { filter: { colour: 'red' } });
    expect(textOf(ignored.text)).toContain('retryLimit');
  });
});

describe('a thread', () => {
  it('continues under its id, and is stored with its sources and whether it was answered', async () => {
    const first = await ask('How do I change the retry limit?');
    const threadId = first.headers.get('x-thread-id') ?? '';
    const second = await ask('Which chocolate cake recipe wins prizes in Vienna?', { threadId });
    expect(second.headers.get('x-thread-id')).toBe(threadId);
    const thread = await createThreadStore(database.pool).get(docs.site, threadId);
    expect(thread?.messages.map(({ role, answered }) => [role, answered])).toEqual([
      ['user', null],
      ['assistant', true],
      ['user', null],
      ['assistant', false],
    ]);
    expect(thread?.messages[1]?.sources[0]?.path).toBe('guides/retries');
  });

  it.each([
    ['an unknown id', () => Promise.resolve('thr_unknown')],
    ["another site's id", foreignThread],
  ])('starts over for %s, without an error', async (_name, idOf) => {
    const threadId = await idOf();
    const answer = await ask('retry limit?', { threadId });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-thread-id')).not.toBe(threadId);
  });

  it('can be read and deleted only with an admin key of its organization', async () => {
    const threadId = (await ask('retry limit?', { currentPath: '/limits' })).headers.get('x-thread-id') ?? '';
    const address = `/discovery/v1/assistant/${docs.site.domain}/thread/${threadId}`;
    const stranger = await buildIndexedSite(database.pool);
    expect((await api.ask(address, { key: stranger.adminKey })).status).toBe(404);
    expect((await api.ask(address, { key: docs.assistantKey })).status).toBe(403);
    const { messages } = (await api.ask(address, { key: docs.adminKey })).body;
    expect(messages).toMatchObject([{ currentPath: '/limits' }, { currentPath: null }]);
    expect((await api.ask(address, { key: docs.adminKey, method: 'DELETE' })).status).toBe(204);
    expect((await api.ask(address, { key: docs.adminKey })).status).toBe(404);
  });

  it('is not stored for a site with a retention of 0 days', async () => {
    const silent = await buildIndexedSite(database.pool, { retentionDays: 0 });
    const address = `/discovery/v2/assistant/${silent.site.domain}/message`;
    const answer = await api.ask(address, { key: silent.assistantKey, json: question('retry limit?') });
    const threadId = answer.headers.get('x-thread-id') ?? '';
    expect(await createThreadStore(database.pool).get(silent.site, threadId)).toBeNull();
  });

  async function foreignThread(): Promise<string> {
    const other = await buildIndexedSite(database.pool);
    const address = `/discovery/v2/assistant/${other.site.domain}/message`;
    const answer = await api.ask(address, { key: other.assistantKey, json: question('retry limit?') });
    return answer.headers.get('x-thread-id') ?? '';
  }
});

describe('access', () => {
  it('is 401 without a key, 403 with an admin key, and the same 404 for a missing and a foreign domain, all with CORS', async () => {
    const json = question('retry limit?');
    const origin = { origin: 'https://a.example' };
    const stranger = await buildIndexedSite(database.pool);
    const missing = await api.ask('/discovery/v2/assistant/nowhere/message', {
      key: docs.assistantKey,
      json,
      headers: origin,
    });
    const foreign = await api.ask(`/discovery/v2/assistant/${stranger.site.domain}/message`, {
      key: docs.assistantKey,
      json,
      headers: origin,
    });
    const answers = [
      await api.ask(path('v2'), { json, headers: origin }),
      await api.ask(path('v2'), { key: docs.adminKey, json, headers: origin }),
      missing,
      foreign,
    ];
    expect(answers.map(({ status }) => status)).toEqual([401, 403, 404, 404]);
    expect(foreign.text).toBe(missing.text);
    for (const { headers, body } of answers) {
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toContain('X-Thread-Id');
      expect(Object.keys(body)).toEqual(['error']);
    }
  });

  it('answers a preflight without a key and without counting it', async () => {
    const preflight = await api.ask(path('v2'), {
      method: 'OPTIONS',
      headers: {
        origin: 'https://a.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-headers')?.split(',')).toEqual([
      'authorization',
      'content-type',
      'user-agent',
      'x-resume-token',
      'x-reader-token',
      'x-proof-of-work',
      'mcp-protocol-version',
    ]);
    expect(preflight.headers.get('ratelimit')).toBeNull();
  });

  it('reports that a site has no index yet', async () => {
    const organization = await buildOrganization(database.pool);
    const site = await buildSite(database.pool, { organizationId: organization.id });
    const { key } = await buildKey(database.pool, { organizationId: organization.id, kind: 'assistant' });
    const answer = await api.ask(`/discovery/v2/assistant/${site.domain}/message`, { key, json: question('x') });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.body.error).toContain('no index yet');
  });
});

describe('search and page', () => {
  it('return passages with their metadata, and an empty list for an unknown filter value', async () => {
    const address = `/discovery/v1/search/${docs.site.domain}`;
    const found = await api.ask(address, { key: docs.assistantKey, json: { query: 'retryLimit' } });
    expect(found.body[0]).toMatchObject({ path: 'guides/retries', metadata: { title: 'Retries' } });
    const none = await api.ask(address, {
      key: docs.assistantKey,
      json: { query: 'retryLimit', filter: { language: 'xx' } },
    });
    expect(none.body).toEqual([]);
    expect((await api.ask(address, { key: docs.assistantKey, json: { query: ' ' } })).status).toBe(400);
    expect((await api.ask(address, { key: docs.assistantKey, json: { query: 'x', pageSize: 51 } })).status).toBe(400);
  });

  it('return a page by its path, and 404 for unknown and hidden ones', async () => {
    const address = `/discovery/v1/page/${docs.site.domain}`;
    const page = await api.ask(address, { key: docs.assistantKey, json: { path: '/guides/install' } });
    expect(page.body).toMatchObject({ path: 'guides/install', content: expect.stringContaining('npm install widget') });
    for (const path of ['nowhere', 'secret']) {
      expect((await api.ask(address, { key: docs.assistantKey, json: { path } })).status).toBe(404);
    }
  });

  it('use a new version of the index soon after it is published, while replies continue', async () => {
    const live = await buildIndexedSite(database.pool);
    const address = `/discovery/v1/page/${live.site.domain}`;
    const read = async () => (await api.ask(address, { key: live.assistantKey, json: { path: 'new' } })).status;
    expect(await read()).toBe(404);
    await publishPages(database.pool, live.site, { 'new.md': '# New\n\nA new page.\n' });
    await expect.poll(read).toBe(200);
  });
});
