import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildIndexedSite, type TestSite } from '../../assistant/site.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { testKeysText } from '../../../support/database/encryption.ts';
import { readerRequests, sendAsReader } from './reader-requests.ts';
import { serveApi, type ServedApi } from '../serve.ts';

const own = 'https://docs.example.com';
const secret = 'captcha-secret-of-acme';
const search = (domain: string) => readerRequests(domain).find(([, path]) => path.includes('/search/'))!;

let database: TestDatabase;
let api: ServedApi;
let docs: TestSite;
/** A provider that records its requests and accepts each response once. */
const asked: URLSearchParams[] = [];
const used = new Set<string>();
let isBroken = false;
const provider = createServer(async (request, response) => {
  const form = new URLSearchParams(await text(request));
  asked.push(form);
  const solved = form.get('response') ?? '';
  const success = form.get('secret') === secret && solved.startsWith('solved') && !used.has(solved);
  used.add(solved);
  response.setHeader('content-type', 'application/json');
  response.end(isBroken ? 'oh' : JSON.stringify({ success, 'error-codes': [] }));
});

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const { port } = provider.address() as AddressInfo;
  database = await createTestDatabase();
  api = await serveApi(database.pool, {
    DOCKET_CAPTCHA_VERIFY_URL: `http://127.0.0.1:${port}/siteverify`,
    DOCKET_ENCRYPTION_KEYS: testKeysText('k1'),
  });
  docs = await buildIndexedSite(database.pool);
});
afterAll(async () => {
  await api?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
  provider.close();
});

async function guardedKey(provider = 'turnstile'): Promise<{ key: string; id: string }> {
  const { body } = await api.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'assistant' } });
  const changed = await changeKey(body.id, { captcha: { provider, secret } });
  expect([changed.body.captcha, changed.text.includes(secret)]).toEqual([provider, false]);
  return body;
}
const changeKey = (id: string, json: object) =>
  api.ask(`/v1/keys/${id}`, { method: 'PATCH', key: docs.adminKey, json });
const challengeOf = (key: string, json: object = {}, origin = own) =>
  api.ask('/discovery/v1/challenge', { key, json, headers: { Origin: origin } });
const statusWith = async (key: string, proof: string, origin = own) =>
  (await sendAsReader(api, key, search(docs.site.domain), { origin, proof })).status;

it.each(['turnstile', 'hcaptcha'])(
  'with %s, answers every kind of request of a reader that has solved it',
  async (made) => {
    const { key } = await guardedKey(made);
    expect((await challengeOf(key, { captcha: `guessed-${made}` })).status).toBe(403);
    const response = `solved-${made}`;
    const { status, body } = await challengeOf(key, { captcha: response });
    expect([status, body.bits]).toEqual([200, 0]);
    expect(Object.fromEntries(asked.at(-1)!)).toEqual({ secret, response });
    for (const request of readerRequests(docs.site.domain)) {
      expect((await sendAsReader(api, key, request, { origin: own })).status).toBe(428);
      const proven = await sendAsReader(api, key, request, { origin: own, proof: `${body.challenge}.0` });
      expect([request, proven.status === 428]).toEqual([request, false]);
    }
    expect(await statusWith(key, `${body.challenge}.0`, 'https://evil.example')).toBe(428);
  },
);

it('refuses a response that the provider does not accept, and one that was used before', async () => {
  const { key } = await guardedKey();
  expect((await challengeOf(key)).status).toBe(400);
  const refused = await challengeOf(key, { captcha: 'guessed' });
  expect([refused.status, refused.body.error]).toEqual([403, expect.stringMatching(/^The CAPTCHA was not solved/)]);
  expect((await challengeOf(key, { captcha: 'solved-2' })).status).toBe(200);
  expect((await challengeOf(key, { captcha: 'solved-2' })).status).toBe(403);
});

it('accepts no proof of work in its place, from before or from another key', async () => {
  const { body: plain } = await api.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'assistant' } });
  const before = (await challengeOf(plain.key)).body.challenge;
  await changeKey(plain.id, { captcha: { provider: 'hcaptcha', secret } });
  await expect.poll(() => statusWith(plain.key, ''), { timeout: 60_000 }).toBe(428);
  for (let nonce = 0; nonce < 100; nonce += 1) expect(await statusWith(plain.key, `${before}.${nonce}`)).toBe(428);
  const { key: other } = await guardedKey();
  const { challenge } = (await challengeOf(other, { captcha: 'solved-3' })).body;
  expect(await statusWith(plain.key, `${challenge}.0`)).toBe(428);
  expect(await statusWith(other, `${challenge}.0`)).toBe(200);
});

it('says in a sentence that the provider does not answer, and writes its secret nowhere', async () => {
  const { key, id } = await guardedKey();
  isBroken = true;
  const { status, body, headers } = await challengeOf(key, { captcha: 'solved-4' });
  isBroken = false;
  expect([status, headers.get('retry-after'), body.error]).toEqual([503, '5', expect.stringMatching(/^The CAPTCHA/)]);
  const { rows } = await database.pool.query('select captcha_secret as secret from api_keys where id = $1', [id]);
  expect(rows[0].secret).not.toContain(secret);
  expect((await changeKey(id, { captcha: null })).body.captcha).toBeNull();
  await expect.poll(() => statusWith(key, ''), { timeout: 60_000 }).toBe(200);
  const audit = await api.ask('/v1/audit', { key: docs.adminKey });
  expect(audit.text).not.toContain(secret);
  expect(api.log()).not.toContain(secret);
});
