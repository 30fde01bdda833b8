import type { Random } from '../chaos/plans/random.ts';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Values that a careful parser meets sooner or later. */
export const oddValues: readonly Json[] = [
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
  'level":50,"msg":"forged\n{"level":60}',
  'http://169.254.169.254/latest/meta-data',
  [],
  [[]],
  [null],
  {},
  { type: 'text' },
  { __proto__x: 1, constructor: { prototype: 1 }, toString: null },
  Array(300).fill(1),
];

export const headerGames: readonly Record<string, string>[] = [
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
  { 'x-request-id': 'level":60,"msg":"forged' },
  { 'idempotency-key': 'x'.repeat(256) },
  { 'idempotency-key': '' },
  { 'idempotency-key': 'again' },
  { 'last-event-id': '-1' },
  { 'last-event-id': '9'.repeat(40) },
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

export const oddSegments = [
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
  'job_000000000000000000000000',
];

/** Replaces or removes a random value of a body, and returns what it did. */
export function mutate(json: Json, random: Random): string {
  const places: { holder: Record<string, Json>; key: string }[] = [];
  const visit = (value: Json) => {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, item] of Object.entries(value)) {
      places.push({ holder: value as Record<string, Json>, key });
      visit(item);
    }
  };
  visit(json);
  if (places.length === 0) return 'nothing';
  const { holder, key } = random.pick(places);
  if (random.next() < 0.2) {
    if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else delete holder[key];
    return `without ${key}`;
  }
  holder[key] = random.next() < 0.05 ? nested(random.between(20, 60)) : random.pick(oddValues);
  return `another ${key}`;
}

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level += 1) value = level % 2 === 0 ? [value] : { a: value };
  return value;
}

/** Makes one error in the bytes of a body. */
export function spoil(bytes: Buffer, random: Random): Buffer {
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

/** Another path in place of one: odd or missing segments, an odd query, other letters. */
export function spoilPath(path: string, random: Random): string {
  const segments = path.split('/');
  const at = random.between(1, segments.length - 1);
  return random.pick([
    () => segments.with(at, random.pick(oddSegments)).join('/'),
    () => `${path}/${random.pick(oddSegments)}`,
    () => `${path}?${random.pick(oddSegments)}=${random.pick(oddSegments)}`,
    () => path.toUpperCase(),
    () => `/${path}`,
    () => segments.toSpliced(at, 1).join('/'),
  ])();
}
