import { Readable } from 'node:stream';
import { beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi, type Answer } from '../api/serve.ts';
import { buildIndexedSite, question } from './site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
let message: string;
let search: string;

beforeAll(async () => {
  message = `/discovery/v2/assistant/${docs.site.domain}/message`;
  search = `/discovery/v1/search/${docs.site.domain}`;
});

const valid = question('retry limit?');
const context = { type: 'code', value: 'x' };
const dataUrl = (size: number) => ({
  type: 'file',
  mediaType: 'image/png',
  url: `data:image/png;base64,${'A'.repeat(size)}`,
});
const withFile = (size: number) => ({
  fp: 'x',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hm?' }, dataUrl(size)] }],
});

function listOf(length: number, item: unknown): unknown[] {
  return Array.from({ length }, () => item);
}

/** An answer as an AI SDK client sends it back: three steps with a search each, five sources. */
const answered = {
  id: 'msg_1',
  role: 'assistant',
  metadata: { threadId: 'thr_1' },
  parts: [
    ...listOf(3, { type: 'step-start' }),
    ...listOf(3, {
      type: 'tool-search',
      toolCallId: 'a',
      state: 'output-available',
      input: { query: 'x' },
      output: {},
    }),
    ...listOf(5, { type: 'source-url', sourceId: 'src_1', url: '/a', title: 'A' }),
    { type: 'text', text: 'Like this.', state: 'done' },
  ],
};

function nested(depth: number): unknown {
  return depth === 0 ? 1 : [nested(depth - 1)];
}

function ask(path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> {
  return api.ask(path, { key: docs.assistantKey, json, headers: { origin: 'https://a.example', ...headers } });
}

function expectRefusal(answer: Answer, status: number, sentence: RegExp): void {
  expect([answer.status, answer.body]).toEqual([status, { error: expect.stringMatching(sentence) }]);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
}

describe('a question', () => {
  it.each([
    ['no fp', { messages: valid.messages }, /^fp is missing/],
    ['an empty fp', { ...valid, fp: '' }, /^fp must have at least 1/],
    ['no messages', { fp: 'x' }, /^messages is missing/],
    ['empty messages', { fp: 'x', messages: [] }, /^messages must have at least 1/],
    [
      'no user message',
      { fp: 'x', messages: [{ role: 'assistant', content: 'x' }] },
      /^messages must contain a user message/,
    ],
    [
      'a currentPath of 201 characters',
      { ...valid, currentPath: '\u{1f600}'.repeat(201) },
      /^currentPath must have at most 200 characters/,
    ],
    ['a message of nothing', { fp: 'x', messages: [{ role: 'user' }] }, /^messages\[0\] needs parts or content/],
    [
      'a text part without text',
      { fp: 'x', messages: [{ role: 'user', parts: [{ type: 'text' }] }] },
      /parts\[0\]\.text is missing/,
    ],
    ['a retrievalPageSize of 0', { ...valid, retrievalPageSize: 0 }, /at least 1/],
    ['a retrievalPageSize of 51', { ...valid, retrievalPageSize: 51 }, /at most 50/],
    ['a retrievalPageSize of 2.5', { ...valid, retrievalPageSize: 2.5 }, /a whole number/],
    ['a retrievalPageSize of "5"', { ...valid, retrievalPageSize: '5' }, /a number/],
    ['context without a type', { ...valid, context: [context, { value: 'x' }] }, /^context\[1\]\.type/],
    ['context without a value', { ...valid, context: [{ type: 'code' }] }, /^context\[0\]\.value/],
    ['a NUL', { ...valid, currentPath: 'a\0b' }, /NUL/],
    ['33 levels', { ...valid, deep: nested(33) }, /nested deeper/],
    [
      '501 messages',
      { fp: 'x', messages: listOf(501, { role: 'user', content: '' }) },
      /^messages must have at most 500/,
    ],
    [
      '110,000 messages',
      { fp: 'x', messages: listOf(110_000, { role: 'data', content: '' }) },
      /more than 50000 values/,
    ],
    ['a list', [valid], /must be an object/],
    ['null', null, /must be an object/],
  ])('with %s is refused in one sentence', async (_name, json, sentence) => {
    expectRefusal(await ask(message, json), 400, sentence);
  });

  it.each([
    ['a currentPath of 200 characters', { currentPath: '\u{1f600}'.repeat(200) }],
    ['a retrievalPageSize of 50', { retrievalPageSize: 50 }],
    [
      'null where something may be missing',
      { filter: null, threadId: null, context: null, currentPath: null, retrievalPageSize: null },
    ],
    [
      'unknown fields',
      { filter: { colour: 'red' }, threadKey: 'x', messageId: 1, trigger: 'regenerate-message', x: nested(20) },
    ],
    ['a file of 4 million characters', withFile(4_000_000)],
    ['a history of 499 messages', { messages: [...listOf(499, answered), ...valid.messages] }],
  ])('with %s is answered', async (_name, more) => {
    expect((await ask(message, { ...valid, ...more })).status).toBe(200);
  });
});

describe('a body', () => {
  it('of more than 4 MB is refused, with or without Content-Length, and the connection continues', async () => {
    expectRefusal(await ask(message, withFile(5_000_000)), 413, /larger than 4194304 bytes/);
    const response = await fetch(api.url + message, {
      method: 'POST',
      headers: { authorization: `Bearer ${docs.assistantKey}`, 'content-type': 'application/json' },
      body: Readable.toWeb(Readable.from(Array(500).fill(Buffer.alloc(10_000, ' ')))) as ReadableStream,
      duplex: 'half',
    } as RequestInit);
    expect([response.status, Object.keys((await response.json()) as object)]).toEqual([413, ['error']]);
    expect((await ask(message, valid)).status).toBe(200);
  });

  it('of more than 256 KiB is too large for a search', async () => {
    expectRefusal(await ask(search, { query: 'x', more: 'x'.repeat(300_000) }), 413, /larger than 262144 bytes/);
    expectRefusal(await ask(search, { query: 'x'.repeat(2_001) }), 400, /at most 2000 characters/);
  });

  it.each([
    ['compressed', { 'content-encoding': 'gzip' }, 415, /Content-Encoding/],
    ['not called JSON', { 'content-type': 'text/plain' }, 415, /must be JSON/],
    ['in another charset', { 'content-type': 'application/json; charset=latin1' }, 415, /UTF-8/],
  ] as const)('that is %s is refused', async (_name, headers, status, sentence) => {
    expectRefusal(await ask(message, valid, headers), status, sentence);
  });

  it('with millions of wrong items is refused before it is parsed', async () => {
    const wrong = Array(1_500_000).fill(0);
    for (const json of [
      { fp: 'x', messages: wrong },
      { fp: 'x', messages: [{ role: 'user', parts: wrong }] },
      { ...valid, context: wrong },
    ])
      expectRefusal(await ask(message, json), 400, /more than 50000 values/);
  });
});
