import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createBlockCheck } from '../../../api/assistant/citations/citations.ts';
import { parseMessageRequest } from '../../../api/assistant/message-request.ts';
import { readJsonBody } from '../../../api/http/json-body.ts';
import { holdOf } from '../../support/database/hold-of.ts';

const maxBytes = 4_194_304;
const list = (count: number, item: (at: number) => string) => Array.from({ length: count }, (_, at) => item(at)).join();
const fields = (count: number, first = 0, length = 60) =>
  list(count, (at) => `"k${first + at}${'x'.repeat(length)}":1`);
const asked = '{"role":"user","content":"q"}';
const bodyOf = (messages: string, more = '') => `{"fp":"x",${more}"messages":[${messages}]}`;
const partsOf = (at: number) =>
  list(300, (part) => `{"type":"text","text":"a",${fields(3, ((300 * at + part) * 3) % 1_900, 0)}}`);

// the largest accepted questions, and some that are too large
it.each([
  ['values', bodyOf(asked, `"x":[${list(48_000, () => `"${'y'.repeat(80)}"`)}],`)],
  ['names', bodyOf(list(9, () => `{"role":"user","content":"q",${fields(1_900)}}`))],
  ['parts with fields of their own', bodyOf(list(25, (at) => `{"role":"user","parts":[${partsOf(at)}]}`))],
  ['prototypes', bodyOf(asked, `"x":[${list(16_000, (at) => `{"k${at % 1_900}":1,"__proto__":1}`)}],`)],
  ['too many names', bodyOf(asked, `${fields(48_000)},`)],
  [
    'names with escapes',
    bodyOf(list(9, () => `{"role":"user","content":"q",${fields(1_900).replaceAll('k', '\\ud800')}}`)),
  ],
])('a question with many %s holds no event loop', async (_, body) => {
  const server = createServer((request, response) => {
    void readJsonBody(request, { maxBytes })
      .then(parseMessageRequest)
      .catch(() => undefined)
      .then(() => response.end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const headers = { 'content-type': 'application/json' };
  const bytes = Buffer.from(body);
  expect(bytes.length).toBeLessThan(maxBytes);
  const ask = async () => void (await (await fetch(url, { method: 'POST', headers, body: bytes })).text());
  await ask();
  expect(await holdOf(ask)).toBe(0);
});

it('an answer with numbers that many pages state in the same words holds no event loop', async () => {
  const rows = (first: number) => list(150, (at) => `|lamp fuse ${first + at}\n`).replaceAll(',', '');
  const shown = Array.from({ length: 72 }, (_, at) => ({ path: `page-${at}`, text: rows(at % 2 === 0 ? 0 : 1_000) }));
  const check = createBlockCheck({ shown, known: () => '', pathOf: () => null });
  const ask = async () => check(`${list(30, (at) => `lamp fuse ${at}`).replaceAll(',', ' ')}.\n`);
  // what the pages state is read once
  const [line] = await ask();
  expect(line?.sentences[0]?.supported).toHaveLength(30);
  expect(await holdOf(ask)).toBe(0);
});
