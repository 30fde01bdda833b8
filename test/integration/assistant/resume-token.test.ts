import { DefaultChatTransport, type UIMessage, type UIMessageChunk } from 'ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildSite } from '../../support/database/build.ts';
import { openStream, type OpenStream } from '../../support/sdk-clients/open-stream.ts';
import { serveModelApi, type ModelApi } from './model-api.ts';
import { pages, publishPages, question } from './site.ts';

let api: ModelApi;

beforeAll(async () => {
  api = await serveModelApi();
});

afterAll(() => api?.[Symbol.asyncDispose]());

it('cannot be resumed by another reader of the page with the same key and chat id', async () => {
  const { pool } = api.database;
  const { organizationId, site, assistantKey } = api.docs;
  const otherSite = await buildSite(pool, { organizationId });
  await publishPages(pool, otherSite, pages);
  const [url] = api.apis.map((served) => served.url);
  const addressOf = (domain: string) => `${url}/discovery/v2/assistant/${domain}/message`;
  const readers = [
    { chat: 'docs', domain: site.domain },
    { chat: 'docs', domain: site.domain },
    { chat: 'home', domain: site.domain },
    { chat: 'docs', domain: otherSite.domain },
  ];
  api.model.script(...readers.map((_, at) => ({ text: [`answer ${at} `, 'and ', 'end'], stall: 2 })));
  const streams: OpenStream[] = [];
  for (const [at, { chat, domain }] of readers.entries()) {
    const json = question('How do I change the retry limit?', { id: chat, resumable: true });
    const stream = await openStream(addressOf(domain), { key: assistantKey, json });
    await stream.until(`answer ${at} `);
    streams.push(stream);
  }
  const given = streams.map(({ headers }) => String(headers['x-resume-token']));
  expect(new Set(given).size).toBe(readers.length);
  for (const token of given) expect(token).toMatch(/^[0-9A-Za-z]{43}$/);
  const asked = [...given, '', 'docs', streams[0]!.headers['x-thread-id'] as string];
  for (const [holder, token] of asked.entries()) {
    for (const [at, { chat, domain }] of readers.entries()) {
      const stream = await openStream(`${addressOf(domain)}/${chat}/stream`, {
        key: assistantKey,
        headers: { 'x-resume-token': token },
      });
      const place = readers[holder];
      const isOwn = place !== undefined && place.chat === chat && place.domain === domain;
      expect([holder, at, stream.status]).toEqual([holder, at, isOwn ? 200 : 204]);
      if (isOwn) await stream.until(`answer ${holder} `);
      else expect(stream.headers['x-thread-id']).toBeUndefined();
      expect(stream.headers['x-resume-token']).toBeUndefined();
      stream.leave();
    }
  }
  api.model.release();
  await Promise.all(streams.map(({ ended }) => ended));
});

it('is resumed by useChat in a reloaded page that kept the token', async () => {
  const { docs, apis } = api;
  const kept = new Map<string, string>();
  const pageTransport = () =>
    new DefaultChatTransport<UIMessage>({
      api: `${apis[0]!.url}/discovery/v2/assistant/${docs.site.domain}/message`,
      body: { fp: 'anonymous', resumable: true },
      headers: () => ({
        Authorization: `Bearer ${docs.assistantKey}`,
        'X-Resume-Token': kept.get('docket-resume-token') ?? '',
      }),
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        const token = response.headers.get('X-Resume-Token');
        if (token !== null) kept.set('docket-resume-token', token);
        return response;
      },
    });
  api.model.script({ text: ['one ', 'two ', 'three'], stall: 2 });
  const leave = new AbortController();
  const first = await pageTransport().sendMessages({
    trigger: 'submit-message',
    chatId: 'docs',
    messageId: undefined,
    messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'How do I change the retry limit?' }] }],
    abortSignal: leave.signal,
  });
  await first.getReader().read();
  leave.abort();
  const resumed = await pageTransport().reconnectToStream({ chatId: 'docs' });
  api.model.release();
  const parts: UIMessageChunk[] = [];
  for await (const part of resumed!) parts.push(part);
  expect(parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('')).toBe('one two three');
  expect(parts.at(-1)?.type).toBe('finish');
  kept.clear();
  expect(await pageTransport().reconnectToStream({ chatId: 'docs' })).toBeNull();
});
