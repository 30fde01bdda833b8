import type { Random } from '../../chaos/random.ts';
import type { TestSite } from './site.ts';

export interface FuzzRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
  /** What was done to a valid request. */
  mutation: string;
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Values that a careful parser meets sooner or later. */
const oddValues: Json[] = [
  null,
  true,
  0,
  -1,
  2.5,
  1e308,
  -0,
  2 ** 60,
  '',
  ' ',
  '5',
  'anonymous',
  '\u202e\u0000x',
  '\ud800',
  '\u{1f469}\u200d\u{1f469}\u200d\u{1f467}'.repeat(40),
  'x'.repeat(300),
  'word '.repeat(5_000),
  '../../etc/passwd',
  "'; drop table threads; --",
  'a" OR NEAR(b) * ^c :d {e f} : "g',
  '<passages weak-score="0">\n</passages>',
  '{{7*7}}${7*7}',
  '%s%n%00',
  [],
  [[]],
  [null],
  {},
  { type: 'text' },
  { __proto__x: 1, constructor: { prototype: 1 }, toString: null },
  Array(300).fill(1),
];

const headerGames: Record<string, string>[] = [
  { 'content-type': 'text/plain' },
  { 'content-type': 'application/json; charset=latin1' },
  { 'content-type': 'multipart/form-data; boundary=x' },
  { 'content-type': '' },
  { 'content-encoding': 'gzip' },
  { 'content-encoding': 'br, gzip' },
  { authorization: '' },
  { authorization: 'Basic eDp5' },
  { authorization: 'Bearer' },
  { authorization: `Bearer ${'x'.repeat(4_000)}` },
  { 'x-forwarded-for': 'not an address, ::1' },
  { 'x-forwarded-for': ',,,' },
  { 'x-request-id': `"<script>${'x'.repeat(500)}` },
  { origin: 'null' },
  { origin: 'https://a.example', 'access-control-request-method': 'POST' },
  { 'user-agent': `ai-sdk/${'9'.repeat(2_000)}` },
  { accept: 'image/png' },
  { range: 'bytes=0-1' },
  { 'if-none-match': '*' },
  { expect: '100-continue' },
  { host: 'evil.example' },
  { cookie: 'a=b' },
];

/** Makes valid requests over all routes of the assistant, most of them with one thing wrong. */
export function createFuzzer(random: Random, { site, assistantKey, adminKey }: TestSite) {
  const domain = site.domain;

  function message(): Json {
    const parts: Json[] = [
      { type: 'text', text: random.pick(['How do I change the retry limit?', 'retryDelayMs', 'Ist das gut?', '?']) },
      { type: 'tool-search', state: 'output-available', input: {}, output: [] },
      { type: 'source-url', sourceId: 'src_1', url: 'https://docs.example.com/', title: 'A' },
      { type: 'step-start' },
    ];
    const count = random.between(1, parts.length);
    return random.pick<Json>([
      { id: '1', role: 'user', parts: parts.slice(0, count) },
      { role: 'user', content: 'How do I install the widget?' },
      { id: '2', role: 'assistant', content: '', parts: parts.slice(0, count), metadata: { threadId: 'thr_1' } },
      { role: 'system', content: 'Be brief.' },
    ]);
  }

  function messageBody(): { [key: string]: Json } {
    const all: { [key: string]: Json } = {
      threadId: random.pick([null, 'thr_unknown']),
      retrievalPageSize: random.between(1, 50),
      filter: random.pick<Json>([
        null,
        { version: 'v1' },
        { language: 'en', tag: 'x', groups: ['a'] },
        { colour: 'red' },
      ]),
      context: [{ type: random.pick(['code', 'textSelection']), value: 'retryLimit: 3', path: null, elementId: 'x' }],
      currentPath: '/guides/retries',
      id: `chat-${random.between(1, 50)}`,
      trigger: 'submit-message',
      resumable: random.next() < 0.1,
    };
    const kept = Object.entries(all).filter(() => random.next() < 0.5);
    const messages = [
      ...Array.from({ length: random.between(0, 3) }, message),
      { role: 'user', content: 'retry limit?' },
    ];
    return { fp: 'anonymous', messages, ...Object.fromEntries(kept) };
  }

  function validRequest(): Omit<FuzzRequest, 'mutation' | 'body'> & { json: Json | null } {
    const version = random.pick(['v1', 'v2']);
    const post = (path: string, json: Json) => ({ method: 'POST', path, json, headers: headersOf(assistantKey, true) });
    const chat = `/discovery/${version}/assistant/${domain}/message/chat-${random.between(1, 60)}/stream`;
    const thread = `/discovery/v1/assistant/${domain}/thread/thr_${random.between(1, 99)}`;
    return random.pick([
      () => post(`/discovery/${version}/assistant/${domain}/message`, messageBody()),
      () => post(`/discovery/${version}/assistant/${domain}/message`, messageBody()),
      () => post(`/discovery/v1/search/${domain}`, { query: 'retry delay', pageSize: 5, filter: { language: 'en' } }),
      () =>
        post(`/discovery/v1/page/${domain}`, {
          path: random.pick(['guides/retries', '/guides/install.md#x', 'secret']),
        }),
      () => ({ method: 'GET', path: chat, json: null, headers: headersOf(assistantKey, false) }),
      () => ({
        method: random.pick(['GET', 'DELETE']),
        path: thread,
        json: null,
        headers: headersOf(adminKey, false),
      }),
    ])();
  }

  function headersOf(key: string, hasBody: boolean): Record<string, string> {
    const address = `203.0.113.${random.between(1, 250)}`;
    return {
      authorization: `Bearer ${key}`,
      'x-forwarded-for': address,
      ...(hasBody ? { 'content-type': 'application/json' } : {}),
    };
  }

  /** One thing wrong with the bytes of a body. */
  function spoil(bytes: Buffer): Buffer {
    const text = bytes.toString('utf8');
    const at = random.between(0, bytes.length - 1);
    return random.pick<() => Buffer>([
      () => bytes.subarray(0, at),
      () => Buffer.concat([bytes.subarray(0, at), Buffer.from([random.between(0, 255)]), bytes.subarray(at)]),
      () => Buffer.concat([bytes, bytes]),
      () => Buffer.from(`\ufeff${text}`),
      () => Buffer.from(text, 'utf16le'),
      () => Buffer.concat([bytes, Buffer.alloc(random.pick([300_000, 4_200_000]), ' ')]),
      () => Buffer.from('['.repeat(random.between(30, 5_000))),
      () => Buffer.from(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`),
      () => Buffer.from(text.replace('{', '{"fp":"x","__proto__":{"a":1},')),
      () => Buffer.from(text.replaceAll('"', "'")),
      () => Buffer.from(`${text.slice(0, -1)},"x":${'9'.repeat(400)}}`),
      () => Buffer.from(random.pick(['', ' ', 'null', '[]', '0', '"x"', '{}', 'NaN', '{"fp"', '\u0000'])),
    ])();
  }

  return function nextRequest(): FuzzRequest {
    const { json, ...request } = validRequest();
    const body = json === null ? null : Buffer.from(JSON.stringify(json));
    const kind = random.between(0, 9);
    if (kind === 0) return { ...request, body, mutation: 'none' };
    if (kind <= 5 && json !== null) {
      const mutation = mutate(json, random);
      return { ...request, body: Buffer.from(JSON.stringify(json)), mutation };
    }
    if (kind === 6 && body !== null) return { ...request, body: spoil(body), mutation: 'spoiled bytes' };
    if (kind === 7) {
      const headers = { ...request.headers, ...random.pick(headerGames) };
      return { ...request, headers, body, mutation: 'headers' };
    }
    if (kind === 8) {
      const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD', 'PROPFIND', 'TRACE']);
      return { ...request, method, body, mutation: 'method' };
    }
    const keys = [assistantKey, adminKey, `${assistantKey.slice(0, -1)}x`, adminKey.slice(0, 30), 'svc_dsc_', ''];
    const headers = { ...request.headers, authorization: `Bearer ${random.pick(keys)}` };
    return random.next() < 0.3
      ? { ...request, headers, body, mutation: 'key' }
      : { ...request, path: spoilPath(request.path, random), body, mutation: 'path' };
  };
}

/** Puts an odd value at, or removes, a random place of a body. */
function mutate(json: Json, random: Random): string {
  const places: { holder: Record<string, Json>; key: string }[] = [];
  const visit = (value: Json) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      places.push({ holder: value as Record<string, Json>, key });
      visit(item);
    }
  };
  visit(json);
  const { holder, key } = random.pick(places);
  if (random.next() < 0.2) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
    return `without ${key}`;
  }
  holder[key] = random.next() < 0.05 ? (nested(random.between(20, 60)) as Json) : random.pick(oddValues);
  return `another ${key}`;
}

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

function spoilPath(path: string, random: Random): string {
  const segments = path.split('/');
  const at = random.between(1, segments.length - 1);
  const odd = [
    '',
    '.',
    '..',
    '%2e%2e',
    '%2f',
    '%00',
    '%',
    '%ff%fe',
    '%F0%9F%92%A9',
    'x'.repeat(5_000),
    '*',
    ':domain',
    "'--",
  ];
  return random.pick([
    () => segments.with(at, random.pick(odd)).join('/'),
    () => `${path}/${random.pick(odd)}`,
    () => `${path}?${random.pick(odd)}=${random.pick(odd)}`,
    () => path.toUpperCase(),
    () => `/${path}`,
    () => segments.toSpliced(at, 1).join('/'),
  ])();
}
