import { connect } from 'node:net';
import { performance } from 'node:perf_hooks';
import { setImmediate as turn } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { createSweeps } from '../../../db/for-service/sweeps.ts';
import { createThreadStore } from '../../../db/sites/threads.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { serveModelApi } from './model-api.ts';
import { openStream } from '../../support/sdk-clients/open-stream.ts';
import { buildIndexedSite, eventsOf, publishPages, question, textOf } from './site.ts';
import type { TestSite } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));
const docs = ofFile(() => buildIndexedSite(database.pool));

const setup = (product: string) =>
  `---\nversion: ${product}\n---\n\n# Set up\n\nSet the time limit of a connection with \`timeoutMs\`. The default is 30 seconds.\n`;

const manyPages: Record<string, string> = {
  'v1/setup.md': setup('v1'),
  'v2/setup.md': setup('v2'),
  'queue.md': '# Queue\n\n## Limits\n\nThe limit is set by `maxJobs` in the queue of `createQueue()`.\n',
  'cache.md': '# Cache\n\n## Limits\n\nThe limit is set by `maxEntries` in the cache of `createCache()`.\n',
};
for (let number = 1; number <= 60; number += 1)
  manyPages[`recipes/recipe-${number}.md`] = `# Recipe ${number}\n\nHow to bake bread number ${number} in an oven.\n`;

beforeAll(async () => {
  await publishPages(database.pool, docs.site, manyPages);
});

function ask(text: string, more: Record<string, unknown> = {}, protocol = 'v2') {
  const path = `/discovery/${protocol}/assistant/${docs.site.domain}/message`;
  return api.ask(path, { key: docs.assistantKey, json: question(text, more) });
}

/** The passages retrieved for a question, as v1 clients see them. */
async function retrieved(text: string, more: Record<string, unknown> = {}): Promise<{ path: string }[]> {
  const { text: stream } = await ask(text, more, 'v1');
  return JSON.parse(/^a:(.*)$/m.exec(stream)?.[1] ?? '{}').result;
}

describe('retrieval', () => {
  it.each([
    [undefined, 5],
    [null, 5],
    [1, 1],
    [20, 20],
    [50, 50],
  ])('returns as many results as retrievalPageSize %s says', async (retrievalPageSize, expected) => {
    expect(await retrieved('How do I bake bread?', { retrievalPageSize })).toHaveLength(expected);
  });

  it('prefers the reader’s current page', async () => {
    for (const version of ['v1', 'v2']) {
      const [first] = await retrieved('How do I set the time limit?', { currentPath: `/${version}/setup` });
      expect(first?.path).toBe(`${version}/setup`);
    }
  });

  it('prefers the reader’s current page on a site published below a folder', async () => {
    const below = await buildIndexedSite(database.pool, { baseUrl: 'https://example.com/docs' });
    await publishPages(database.pool, below.site, manyPages);
    const json = question('How do I set the time limit?', { currentPath: '/docs/v2/setup/index.html' });
    const path = `/discovery/v2/assistant/${below.site.domain}/message`;
    const answer = await api.ask(path, { key: below.assistantKey, json });
    expect(eventsOf(answer.text).find(({ type }) => type === 'source-url')?.url).toBe(
      'https://example.com/docs/v2/setup',
    );
    const thread = `/discovery/v1/assistant/${below.site.domain}/thread/${answer.headers.get('x-thread-id')}`;
    const { messages } = (await api.ask(thread, { key: below.adminKey })).body;
    expect(messages[0]).toMatchObject({ currentPath: '/v2/setup' });
  });

  it('prefers the topics of the context and the earlier questions', async () => {
    for (const [path, code] of [
      ['queue', 'const queue = createQueue({ name });'],
      ['cache', 'const cache = createCache({ name });'],
    ]) {
      const selected = await retrieved('What are the limits?', { context: [{ type: 'code', value: code }] });
      expect(selected[0]?.path).toBe(path);
      const messages = [
        { role: 'user', content: `What is ${code}?` },
        { role: 'assistant', content: 'Something.' },
        { role: 'user', parts: [{ type: 'text', text: 'What are the limits?' }] },
      ];
      expect((await retrieved('', { messages }))[0]?.path).toBe(path);
    }
  });

  it('stays within the filter', async () => {
    const found = await retrieved('How do I set the time limit?', { filter: { version: 'v2' }, retrievalPageSize: 50 });
    expect(found.map(({ path }) => path)).toEqual(['v2/setup']);
  });
});

describe('a question without words', () => {
  it.each([
    ['an empty text', [{ type: 'text', text: '' }]],
    ['a file alone', [{ type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' }]],
    ['no parts', []],
  ])('of %s gets an answer that says so', async (_name, parts) => {
    const answer = await ask('', { messages: [{ role: 'user', parts }] });
    expect(answer.status).toBe(200);
    expect(textOf(answer.text)).toContain('could not find');
  });
});

describe('a question with a file', () => {
  const file = { type: 'file', mediaType: 'image/png', url: 'data:image/png;base64,AAAA' };
  it.each([
    ['as a part', { role: 'user', parts: [{ type: 'text', text: 'How do I set the retry limit?' }, file] }],
    [
      'as an image of another protocol',
      { role: 'user', parts: [{ type: 'text', text: 'How do I set the retry limit?' }, { type: 'image_url' }] },
    ],
    [
      'as an attachment of AI SDK v4',
      { role: 'user', content: 'How do I set the retry limit?', experimental_attachments: [{ url: file.url }] },
    ],
  ])('%s is answered with the remark that the file is not read', async (_name, message) => {
    const answer = await ask('', { messages: [message] });
    expect(textOf(answer.text)).toMatch(
      /^Attached files are not read; this answer uses only the text of the question\.\n\n\S/,
    );
  });

  it('of an earlier message is not mentioned again', async () => {
    const messages = [
      { role: 'user', parts: [file] },
      { role: 'user', content: 'How do I set the retry limit?' },
    ];
    expect(textOf((await ask('', { messages })).text)).not.toContain('Attached files');
  });
});

describe('a conversation', () => {
  it('counts as answered when the documentation answered, and only then', async () => {
    await using scripted = await serveModelApi();
    const threads = createThreadStore(scripted.database.pool);
    const answeredAfter = async (text: string) => {
      scripted.model.script({ text });
      const stream = await scripted.ask('v2');
      await stream.ended;
      const thread = await threads.get(scripted.docs.site, String(stream.headers['x-thread-id']));
      return thread?.messages.at(-1)?.answered;
    };
    expect(await answeredAfter('Set it in [settings](/guides/retries).')).toBe(true);
    expect(
      await answeredAfter('I could not find this in the documentation. [Retries](/guides/retries) is close.'),
    ).toBe(false);
    expect(await answeredAfter('')).toBe(false);
  });

  it('is deleted when its site’s retention ends, and not before', async () => {
    const own = await buildIndexedSite(database.pool, { retentionDays: 30 });
    const path = `/discovery/v2/assistant/${own.site.domain}/message`;
    const threads = createThreadStore(database.pool);
    const ids: string[] = [];
    for (const days of [31, 29]) {
      const answer = await api.ask(path, { key: own.assistantKey, json: question('retry limit?') });
      const id = answer.headers.get('x-thread-id') ?? '';
      await database.pool.query('update threads set updated_at = now() - make_interval(days => $2) where id = $1', [
        id,
        days,
      ]);
      ids.push(id);
    }
    await createSweeps(database.pool).threads();
    const kept = await Promise.all(ids.map((id) => threads.get(own.site, id)));
    expect(kept.map((thread) => thread !== null)).toEqual([false, true]);
  });

  it('can be continued at once, even after an answer that the reader stopped', async () => {
    await using scripted = await serveModelApi();
    scripted.model.script({ text: ['one ', 'two '], stall: 2 }, { text: 'Yes.' });
    const first = await scripted.ask('v2');
    await first.until('one');
    first.leave();
    const threadId = first.headers['x-thread-id'];
    const second = await scripted.ask('v2', { threadId });
    expect(second.headers['x-thread-id']).toBe(threadId);
    await second.ended;
  });
});

it('follows the instructions of the owner below its own rules', async () => {
  await using scripted = await serveModelApi();
  scripted.model.respondWith({ text: 'Yes.' });
  const told = { method: 'PATCH', key: scripted.docs.adminKey, json: { instructions: 'Answer like a pirate.' } };
  expect((await scripted.apis[0]!.ask(`/v1/sites/${scripted.docs.site.domain}`, told)).status).toBe(200);
  await (
    await scripted.ask('v2')
  ).ended;
  const [system] = scripted.model.requests[0]!.body.messages;
  expect(system).toMatchObject({ role: 'system' });
  expect(system!.content).toMatch(
    /Answer only from the documentation[^]+The owner of the site adds[^]+like a pirate\.$/,
  );
});

describe('an overloaded process', () => {
  it('answers 503 to further questions, and never to other requests', { tags: 'slow' }, async () => {
    await using busy = await serveApi(database.pool, {}, { maxLoopDelayMs: 20 });
    const path = `/discovery/v2/assistant/${docs.site.domain}/message`;
    const askBusy = () => busy.ask(path, { key: docs.assistantKey, json: question('bread?') });
    // the machine itself may hold up a process for as long
    await expect.poll(async () => (await askBusy()).status).toBe(200);
    const end = new AbortController();
    const burning = (async () => {
      while (!end.signal.aborted) {
        const until = performance.now() + 60;
        while (performance.now() < until);
        await turn();
      }
    })();
    await expect.poll(async () => (await askBusy()).status).toBe(503);
    // before its body is read
    const refused = await busy.ask(path, { key: docs.assistantKey, json: {} });
    const search = await busy.ask(`/discovery/v1/search/${docs.site.domain}`, {
      key: docs.assistantKey,
      json: { query: 'bread' },
    });
    end.abort();
    await burning;
    expect(Object.keys(refused.body)).toEqual(['error']);
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('access-control-allow-origin')).toBe('*');
    expect(search.status).toBe(200);
    await expect.poll(async () => (await askBusy()).status).toBe(200);
  });
});

describe('a connection', () => {
  it('is closed for a reader that asks for it, and kept alive otherwise', async () => {
    const url = `${api.url}/discovery/v2/assistant/${docs.site.domain}/message`;
    const json = question('bread?');
    const kept = await openStream(url, { key: docs.assistantKey, json });
    const closed = await openStream(url, { key: docs.assistantKey, json, headers: { connection: 'close' } });
    expect([await kept.ended, await closed.ended]).toEqual(['complete', 'complete']);
    expect([kept.headers.connection, closed.headers.connection]).toEqual(['keep-alive', 'close']);
  });

  it('over HTTP/1.0 ends with its answer', async () => {
    const answer = await rawAnswer(api.url, docs);
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    expect(eventsOf(answer.slice(answer.indexOf('\r\n\r\n') + 4)).at(-1)).toMatchObject({ type: 'finish' });
  });
});

async function rawAnswer(url: string, { site, assistantKey }: TestSite): Promise<string> {
  const body = JSON.stringify(question('bread?'));
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(
    `POST /discovery/v2/assistant/${site.domain}/message HTTP/1.0\r\nAuthorization: Bearer ${assistantKey}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  let text = '';
  for await (const part of socket) text += String(part);
  return text;
}
