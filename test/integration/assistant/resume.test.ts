import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../db/ids.ts';
import { createReplyStore } from '../../../db/sites/replies.ts';
import { createThreadStore } from '../../../db/sites/threads.ts';
import { buildKey } from '../../support/database/build.ts';
import { serveModelApi } from './model-api.ts';
import type { ModelApi } from './model-api.ts';
import { answerOf, endingOf, openStream, withoutKeepAlive } from '../../support/sdk-clients/open-stream.ts';
import type { OpenOptions, OpenStream } from '../../support/sdk-clients/open-stream.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

type Protocol = 'v1' | 'v2';

const protocols = ['v1', 'v2'] as const;
let api: ModelApi;
let chats = 0;

beforeAll(async () => {
  api = await serveModelApi({ instances: 2 });
});

afterAll(() => api?.[Symbol.asyncDispose]());

afterEach(() => {
  expect(api.model.violations).toEqual([]);
  expect(api.model.pending()).toBe(0);
});

const newChat = () => `chat-${(chats += 1)}`;

/** The resume token of the newest reply of each chat. */
const tokens = new Map<string, string>();

async function ask(protocol: Protocol, chatId: string, options: Partial<OpenOptions> = {}): Promise<OpenStream> {
  const stream = await api.ask(protocol, { id: chatId, resumable: true }, options);
  tokens.set(chatId, String(stream.headers['x-resume-token'] ?? ''));
  return stream;
}

/** Resumes from the second instance unless another is given. */
function resume(
  protocol: Protocol,
  chatId: string,
  {
    instance = 1,
    token = tokens.get(chatId) ?? '',
    ...options
  }: Partial<OpenOptions> & { instance?: number; token?: string } = {},
): Promise<OpenStream> {
  const { apis, docs } = api;
  const path = `/discovery/${protocol}/assistant/${docs.site.domain}/message/${chatId}/stream`;
  return openStream(`${apis[instance]?.url}${path}`, {
    key: docs.assistantKey,
    headers: { 'x-resume-token': token },
    ...options,
  });
}

describe.each(protocols)('a reply of %s whose reader was cut off', (protocol) => {
  it('continues, and is resumed from its first byte by another process while it runs', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two ', 'three ', 'four'], stall: 3 });
    const first = await ask(protocol, chatId);
    await first.until('two "');
    const call = api.model.requests.at(-1)!;
    first.leave();
    const second = await resume(protocol, chatId);
    await second.until('two "');
    call.release();
    expect(await second.ended).toBe('complete');
    expect([endingOf(second.text()), answerOf(second.text())]).toEqual(['finished', 'one two three four']);
    expect(withoutKeepAlive(second.text()).startsWith(withoutKeepAlive(first.text()))).toBe(true);
    expect(second.headers['x-thread-id']).toBe(first.headers['x-thread-id']);
    expect(second.headers['content-type']).toBe(first.headers['content-type']);
    expect(second.headers['access-control-allow-origin']).toBe('*');
  });

  it('is resumed after its end, however often readers are cut off', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two ', 'three ', 'four'], stall: 3 });
    const first = await ask(protocol, chatId);
    await first.until('two "');
    first.leave();
    const call = api.model.requests.at(-1)!;
    call.release();
    expect(await call.closed).toBe('complete');
    const second = await resume(protocol, chatId, { leaveAfter: 100 });
    await second.ended;
    const third = await resume(protocol, chatId, { instance: 0 });
    expect(await third.ended).toBe('complete');
    expect([endingOf(third.text()), answerOf(third.text())]).toEqual(['finished', 'one two three four']);
    expect(withoutKeepAlive(third.text()).startsWith(withoutKeepAlive(first.text()))).toBe(true);
    const thread = await createThreadStore(api.database.pool).get(api.docs.site, String(first.headers['x-thread-id']));
    expect(thread?.messages.map(({ content }) => content)).toEqual([
      'How do I change the retry limit?',
      'one two three four',
    ]);
  });

  it('ends with an error, once for all who resume it, when its process was killed', async () => {
    const chatId = newChat();
    const id = await recordedReply(protocol, chatId, [...beginnings[protocol]]);
    const readers = await Promise.all([0, 1, 0, 1].map((instance) => resume(protocol, chatId, { instance })));
    await api.database.pool.query(`update replies set heartbeat_at = now() - interval '61 seconds' where id = $1`, [
      id,
    ]);
    await Promise.all(readers.map(({ ended }) => ended));
    const texts = readers.map((reader) => withoutKeepAlive(reader.text()));
    expect(new Set(texts).size).toBe(1);
    expect(texts[0]?.startsWith(beginnings[protocol].join(''))).toBe(true);
    expect(endingOf(texts[0] ?? '')).toBe('failed');
    expect(texts[0]?.match(/was interrupted/g)).toHaveLength(1);
    expect(texts[0]).toContain('"threadId":"thr_gone"');
  });
});

const beginnings = { v1: ['0:"a"\n', '0:"b"\n'], v2: [': stream-open\n\n', 'data: {"type":"start"}\n\n'] };

async function recordedReply(protocol: Protocol, chatId: string, chunks: string[]): Promise<string> {
  const { docs, database } = api;
  const store = createReplyStore(database.pool);
  const { rows } = await database.pool.query<{ id: string }>(
    `select id from api_keys where organization_id = $1 and kind = 'assistant'`,
    [docs.organizationId],
  );
  const reply = {
    id: newId('rpl_'),
    siteId: docs.site.id,
    chatId,
    keyId: rows[0]?.id ?? '',
    threadId: 'thr_gone',
    protocol,
  };
  tokens.set(chatId, await store.create(reply));
  for (const [position, data] of chunks.entries()) await store.append({ id: reply.id, position, data });
  return reply.id;
}

describe('nothing is resumed', () => {
  it('of a reply that its reader has received', async () => {
    const chatId = newChat();
    api.model.script({ text: 'Yes.' });
    const stream = await ask('v2', chatId);
    await stream.ended;
    await expect.poll(async () => (await resume('v2', chatId)).status).toBe(204);
  });

  it('of a reply that was not resumable', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await api.ask('v2', { id: chatId });
    await stream.until('one');
    expect((await resume('v2', chatId)).status).toBe(204);
    stream.leave();
  });

  it('of a site that stores nothing', async () => {
    const { docs, database } = api;
    await database.pool.query('update sites set retention_days = 0 where id = $1', [docs.site.id]);
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await ask('v2', chatId);
    await stream.until('one');
    expect((await resume('v2', chatId)).status).toBe(204);
    stream.leave();
    await database.pool.query('update sites set retention_days = 90 where id = $1', [docs.site.id]);
  });

  it('with another protocol, another key, or another chat', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await ask('v2', chatId);
    await stream.until('one');
    const { key } = await buildKey(api.database.pool, { organizationId: api.docs.organizationId, kind: 'assistant' });
    const token = tokens.get(chatId) ?? '';
    for (const other of [resume('v1', chatId), resume('v2', newChat(), { token }), resume('v2', chatId, { key })]) {
      const { status, text, headers } = await other;
      expect([status, text()]).toEqual([204, '']);
      expect(headers['access-control-allow-origin']).toBe('*');
    }
    expect((await resume('v2', chatId, { key: api.docs.adminKey })).status).toBe(403);
    api.model.release();
    await stream.ended;
  });

  it('of an older reply once the chat has continued', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two'], stall: 2 }, { text: 'Second.' });
    const first = await ask('v2', chatId);
    await first.until('one');
    first.leave();
    const second = await ask('v2', chatId, { leaveAfter: 300 });
    await second.ended;
    api.model.release();
    const resumed = await resume('v2', chatId);
    await resumed.ended;
    expect(answerOf(resumed.text())).toBe('Second.');
  });
});

describe('a resumable reply', () => {
  it('ends in time without a reader', async () => {
    await using brief = await serveModelApi({ times: { detachedMs: 100 } });
    brief.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await brief.ask('v2', { id: 'chat', resumable: true });
    await stream.until('one');
    stream.leave();
    expect(await (await brief.model.nextRequest()).closed).toBe('aborted');
    const { url } = brief.apis[0]!;
    const path = `/discovery/v2/assistant/${brief.docs.site.domain}/message/chat/stream`;
    const resumed = await openStream(url + path, {
      key: brief.docs.assistantKey,
      headers: { 'x-resume-token': String(stream.headers['x-resume-token']) },
    });
    await resumed.ended;
    expect([endingOf(resumed.text()), answerOf(resumed.text())]).toEqual(['failed', 'one ']);
  });

  it('ends properly for its reader when its conversation is deleted meanwhile', async () => {
    const { docs, apis } = api;
    api.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await ask('v2', newChat());
    await stream.until('one');
    const path = `/discovery/v1/assistant/${docs.site.domain}/thread/${String(stream.headers['x-thread-id'])}`;
    expect((await apis[1]!.ask(path, { key: docs.adminKey, method: 'DELETE' })).status).toBe(204);
    api.model.release();
    expect(await stream.ended).toBe('complete');
    expect([endingOf(stream.text()), answerOf(stream.text())]).toEqual(['failed', 'one ']);
  });

  it('also ends in its own process when others considered it dead and ended it', async () => {
    const chatId = newChat();
    api.model.script({ text: ['one ', 'two'], stall: 2 });
    const stream = await ask('v2', chatId);
    await stream.until('one');
    const call = api.model.requests.at(-1)!;
    const { rows } = await api.database.pool.query<{ id: string }>('select id from replies where chat_id = $1', [
      chatId,
    ]);
    const tail = 'data: {"type":"error","errorText":"Gone."}\n\ndata: {"type":"finish"}\n\ndata: [DONE]\n\n';
    await createReplyStore(api.database.pool).end({ id: rows[0]?.id ?? '', tail });
    const other = await resume('v2', chatId);
    await other.ended;
    call.release();
    expect(await stream.ended).toBe('complete');
    expect(withoutKeepAlive(stream.text())).toBe(withoutKeepAlive(other.text()));
    expect([endingOf(stream.text()), answerOf(stream.text())]).toEqual(['failed', 'one ']);
  });
});

const plainCharacter = fc.constantFrom('a', 'B', '7', 'é', '中', '😀', '\u00a0');

it('loses and duplicates nothing wherever readers are cut off', { timeout: 300_000 }, async () => {
  const run = fc.record({
    protocol: fc.constantFrom(...protocols),
    text: fc
      // words only: Markdown syntax is rewritten
      .array(fc.string({ unit: plainCharacter, minLength: 1, maxLength: 30 }), { minLength: 1, maxLength: 40 })
      // an answer of whitespace only is not an answer
      .filter((parts) => parts.join('').trim() !== ''),
    chunkDelayMs: fc.constantFrom(undefined, 1, 5),
    isCutShort: fc.boolean(),
    cuts: fc.array(fc.nat(2_500), { minLength: 1, maxLength: 4 }),
    firstInstance: fc.nat(1),
  });
  await fc.assert(
    fc.asyncProperty(run, async ({ protocol, text, chunkDelayMs, isCutShort, cuts, firstInstance }) => {
      const chatId = newChat();
      api.model.script({ text, chunkDelayMs, cut: isCutShort });
      const readers = [await ask(protocol, chatId, { leaveAfter: cuts[0] })];
      await readers[0]?.ended;
      for (const [position, leaveAfter] of [...cuts.slice(1), Infinity].entries()) {
        const reader = await resume(protocol, chatId, { instance: (position + firstInstance) % 2, leaveAfter });
        await reader.ended;
        if (reader.status === 204) break;
        readers.push(reader);
      }
      const seen = readers.map((reader) => withoutKeepAlive(reader.text()));
      // nothing is left to resume once any of them has read to the end, which may not be the last
      const whole = seen.reduce((longest, text) => (text.length > longest.length ? text : longest));
      for (const part of seen) expect(whole.startsWith(part)).toBe(true);
      expect(endingOf(whole)).toBe(isCutShort ? 'failed' : 'finished');
      if (isCutShort) expect(text.join('').startsWith(answerOf(whole))).toBe(true);
      else expect(answerOf(whole)).toBe(text.join(''));
    }),
    { numRuns: propertyRuns(50) },
  );
});
