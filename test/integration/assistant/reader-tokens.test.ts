import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { SignJWT, UnsecuredJWT, type JWTPayload } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectMcp } from '../mcp/mcp-client.ts';
import { openStream } from '../../support/sdk-clients/open-stream.ts';
import { serveModelApi, type ModelApi } from './model-api.ts';
import { pages, publishPages, question, textOf } from './site.ts';

const secret = 'a-secret-that-two-servers-share-0001';
const issuer = 'https://app.example.com';
const staffWord = 'marigold';
const partnerWord = 'cornflower';
const restricted = {
  ...pages,
  'staff/rates.md': `---\ngroups: [staff]\n---\n\n# Retry rates\n\nThe retry limit of staff is ${staffWord}.\n`,
  'partners/rates.md': `---\ngroups: [partners]\n---\n\n# Retry rates\n\nThe retry limit of partners is ${partnerWord}.\n`,
};

let api: ModelApi;
let domain: string;

beforeAll(async () => {
  api = await serveModelApi();
  ({ domain } = api.docs.site);
  await publishPages(api.database.pool, api.docs.site, restricted);
});

afterAll(() => api?.[Symbol.asyncDispose]());

async function accept(readerTokens: unknown) {
  return await api.apis[0]!.ask(`/v1/sites/${domain}`, {
    key: api.docs.adminKey,
    method: 'PATCH',
    json: { readerTokens },
  });
}

function claims(payload: JWTPayload = {}): SignJWT {
  return new SignJWT({ iss: issuer, aud: domain, groups: ['staff'], ...payload }).setProtectedHeader({ alg: 'HS256' });
}

/** A token as the site's own server makes it. */
async function tokenOf(groups: string[]): Promise<string> {
  await accept({ algorithm: 'HS256', issuer, secret });
  return await claims({ groups }).setIssuedAt().setExpirationTime('5m').sign(Buffer.from(secret));
}

function headersOf(token: string | null): Record<string, string> {
  return token === null ? {} : { 'X-Reader-Token': token };
}

async function search(query: string, token: string | null) {
  const json = { query: `retry limit ${query}`, pageSize: 50 };
  return api.apis[0]!.ask(`/discovery/v1/search/${domain}`, {
    key: api.docs.assistantKey,
    json,
    headers: headersOf(token),
  });
}

async function page(path: string, token: string | null) {
  const request = { key: api.docs.assistantKey, json: { path }, headers: headersOf(token) };
  return api.apis[0]!.ask(`/discovery/v1/page/${domain}`, request);
}

describe('a page with groups', () => {
  it.each<[string, string[] | null, string[]]>([
    ['no token', null, []],
    ['a token without groups', [], []],
    ['a token of one group', ['staff'], ['staff']],
    ['a token of another group', ['partners'], ['partners']],
    ['a token of both', ['Partners', ' STAFF'], ['staff', 'partners']],
  ])('is found, read and answered from with %s only as far as it reaches', async (_name, groups, visible) => {
    const token = groups === null ? null : await tokenOf(groups);
    const found = await search(`${staffWord} ${partnerWord}`, token);
    expect(found.status).toBe(200);
    for (const [folder, word] of [
      ['staff', staffWord],
      ['partners', partnerWord],
    ] as const) {
      const isVisible = visible.includes(folder);
      expect(found.text.includes(word), `search for ${word}`).toBe(isVisible);
      const read = await page(`${folder}/rates`, token);
      const missing = await page(`${folder}/none`, token);
      expect(read.status).toBe(isVisible ? 200 : 404);
      if (!isVisible) expect(read.text).toBe(missing.text);
    }
    const suggested = await api.apis[0]!.ask(`/discovery/v1/suggest/${domain}`, {
      key: api.docs.assistantKey,
      json: { query: 'retry rat' },
      headers: headersOf(token),
    });
    const rates = suggested.body.pages
      .map(({ path }: { path: string }) => path)
      .filter((path: string) => /rates/.test(path));
    expect(rates.toSorted()).toEqual(visible.map((folder) => `${folder}/rates`).toSorted());
    for (const file of ['llms.txt', 'llms-full.txt', 'staff/rates.md']) {
      const shown = await api.apis[0]!.ask(`/discovery/v1/docs/${domain}/${file}`, {
        key: api.docs.assistantKey,
        headers: headersOf(token),
      });
      expect(/staff\/rates|marigold/.test(shown.text), file).toBe(visible.includes('staff'));
    }
    const client = await connectMcp(api.apis[0]!, api.docs, headersOf(token));
    const uri = `docs://${domain}/staff/rates`;
    const overMcp = await Promise.all([
      client.callTool({ name: 'search', arguments: { query: `retry limit ${staffWord}`, pageSize: 50 } }),
      client.callTool({ name: 'read_page', arguments: { path: 'staff/rates' } }),
      client.listResources(),
      client.readResource({ uri }).catch(() => null),
    ]);
    for (const shown of overMcp)
      expect(/staff\/rates|marigold/.test(JSON.stringify(shown))).toBe(visible.includes('staff'));
    await client.close();
    for (const [method, params] of [
      ['tools/call', { name: 'search', arguments: { query: `retry limit ${staffWord}` } }],
      ['tools/call', { name: 'read_page', arguments: { path: 'staff/rates' } }],
      ['resources/list', {}],
      ['resources/read', { uri: `docs://${domain}/staff/rates` }],
    ] as const) {
      const json = { jsonrpc: '2.0', id: 1, method, params };
      const request = { key: api.docs.assistantKey, json, headers: headersOf(token) };
      const called = await api.apis[0]!.ask(`/mcp/${domain}`, request);
      const result = JSON.stringify(called.body.result ?? null);
      expect(/staff\/rates|marigold/.test(result), method).toBe(visible.includes('staff'));
    }
    // a filter only narrows
    const filtered = await api.apis[0]!.ask(`/discovery/v1/search/${domain}`, {
      key: api.docs.assistantKey,
      json: { query: 'retry limit', filter: { groups: ['staff'] } },
      headers: headersOf(token),
    });
    expect(filtered.text.includes(staffWord)).toBe(visible.includes('staff'));
  });

  it.each<[string | null, 'stream' | 'whole']>([
    [null, 'stream'],
    ['staff', 'stream'],
    [null, 'whole'],
    ['staff', 'whole'],
  ])('reaches the model, its tools and its links only for its readers (%s, %s)', async (group, delivery) => {
    const token = group === null ? null : await tokenOf([group]);
    const asked = api.model.requests.length;
    const link = 'See [the rates](/staff/rates#retry-rates) and [install](/guides/install).';
    api.model.script(
      {
        toolCalls: [
          { name: 'search', input: { query: 'retry limit of staff' } },
          { name: 'read_page', input: { path: 'staff/rates' } },
        ],
      },
      { text: [link] },
    );
    const stream = await openStream(`${api.apis[0]!.url}/discovery/v2/assistant/${domain}/message`, {
      key: api.docs.assistantKey,
      json: question('What is the retry limit of staff?', delivery === 'whole' ? { stream: false } : {}),
      headers: headersOf(token),
    });
    await stream.ended;
    const text = delivery === 'whole' ? JSON.parse(stream.text()).text : textOf(stream.text());
    const sent = JSON.stringify(api.model.requests.slice(asked).map(({ body }) => body));
    expect(sent.includes(staffWord)).toBe(group !== null);
    expect(text).toContain('/guides/install');
    expect(text.includes('/staff/rates')).toBe(group !== null);
  });
});

describe('a token', () => {
  const now = () => Math.floor(Date.now() / 1000);
  const pair = generateKeyPairSync('ed25519');
  const pem = pair.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const signed = (payload: JWTPayload, key: KeyObject | Uint8Array = Buffer.from(secret), alg = 'HS256') =>
    new SignJWT({ iss: issuer, aud: domain, groups: ['staff'], iat: now(), exp: now() + 300, ...payload })
      .setProtectedHeader({ alg })
      .sign(key);

  it.each<[string, () => string | Promise<string>]>([
    ['is no token', () => 'staff'],
    ['is not signed', () => new UnsecuredJWT({ iss: issuer, aud: domain, groups: ['staff'] }).encode()],
    ['is signed by another key', () => signed({}, Buffer.from(`${secret}-of-another-site`))],
    ['is for another site', () => signed({ aud: 'other' })],
    ['names another issuer', () => signed({ iss: 'https://evil.example.com' })],
    ['names no issuer', () => signed({ iss: undefined })],
    ['has expired', () => signed({ iat: now() - 600, exp: now() - 300 })],
    ['never expires', () => signed({ exp: undefined })],
    ['says not when it was issued', () => signed({ iat: undefined })],
    ['is older than an hour', () => signed({ iat: now() - 2 * 3600, exp: now() + 300 })],
    ['names no groups', () => signed({ groups: undefined })],
    ['names groups that are no names', () => signed({ groups: [{ staff: true }] })],
    ['names too many groups', () => signed({ groups: Array.from({ length: 101 }, (_, at) => `g${at}`) })],
    ['is too long', () => signed({ padding: 'x'.repeat(7_000) })],
    ['chooses another algorithm', () => signed({}, Buffer.from(secret), 'HS512')],
    ['uses the algorithm of another site', () => signed({}, pair.privateKey, 'EdDSA')],
  ])('that %s is refused, and shows nothing', async (_name, make) => {
    await accept({ algorithm: 'HS256', issuer, secret });
    const answer = await search(staffWord, await make());
    expect([answer.status, answer.body.error]).toEqual([
      401,
      expect.stringMatching(/^The X-Reader-Token was refused: .+\. Get a new one for this reader\.$/),
    ]);
    expect(answer.text).not.toContain(staffWord);
    expect((await page('staff/rates', await make())).status).toBe(401);
    const file = { key: api.docs.assistantKey, headers: headersOf(await make()) };
    expect((await api.apis[0]!.ask(`/discovery/v1/docs/${domain}/llms.txt`, file)).status).toBe(401);
  });

  it('may be signed with Ed25519, whose public key is no secret for HS256', async () => {
    expect((await accept({ algorithm: 'EdDSA', issuer, publicKey: pem })).status).toBe(200);
    expect((await search(staffWord, await signed({}, pair.privateKey, 'EdDSA'))).text).toContain(staffWord);
    expect((await search(staffWord, await signed({}, Buffer.from(pem)))).status).toBe(401);
    const other = generateKeyPairSync('ed25519').privateKey;
    expect((await search(staffWord, await signed({}, other, 'EdDSA'))).status).toBe(401);
  });

  it('is limited to a tenth of the requests of its organization', async () => {
    await accept({ algorithm: 'HS256', issuer, secret });
    const [token, other] = await Promise.all(['one', 'another'].map((sub) => signed({ sub })));
    const first = await search(staffWord, token!);
    expect(first.headers.get('ratelimit-policy')).toContain('"token";q=1000;w=3600');
    const used = `update rate_limits set current = 1000 where key = $1 returning key`;
    const digest = createHash('sha256').update(token!).digest('base64url');
    expect((await api.database.pool.query(used, [`assistant-token:${digest}`])).rowCount).toBe(1);
    const refused = await search(staffWord, token!);
    expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await search(staffWord, other!)).status).toBe(200);
    const without = await search(staffWord, null);
    expect([without.status, without.headers.get('ratelimit-policy')]).toEqual([
      200,
      expect.not.stringContaining('token'),
    ]);
  });

  it('is refused by a site that accepts none', async () => {
    const token = await tokenOf(['staff']);
    expect((await accept(null)).body.readerTokens).toBeNull();
    const answer = await search(staffWord, token);
    expect([answer.status, answer.body.error]).toEqual([401, expect.stringContaining('accepts no X-Reader-Token')]);
    expect((await search(staffWord, null)).text).not.toContain(staffWord);
  });

  it('is verified with a key that is checked, encrypted and never returned', async () => {
    const [{ privateKey }, rsa] = [pair, generateKeyPairSync('rsa', { modulusLength: 2048 })];
    const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const rsaPem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
    for (const readerTokens of [
      { algorithm: 'EdDSA', issuer, publicKey: privatePem },
      { algorithm: 'EdDSA', issuer, publicKey: rsaPem },
      { algorithm: 'EdDSA', issuer, publicKey: 'key' },
      { algorithm: 'HS256', issuer, secret: 'short' },
      { algorithm: 'none', issuer },
      { algorithm: 'HS256', secret },
    ])
      expect((await accept(readerTokens)).status, JSON.stringify(readerTokens)).toBe(400);
    const accepted = await accept({ algorithm: 'HS256', issuer, secret });
    expect(accepted.body.readerTokens).toEqual({ algorithm: 'HS256', issuer });
    expect(accepted.text).not.toContain(secret);
  });
});
