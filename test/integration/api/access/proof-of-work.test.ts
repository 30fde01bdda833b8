import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { buildIndexedSite } from '../../assistant/site.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { readerRequests, sendAsReader, type ReaderRequest } from './reader-requests.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const own = 'https://docs.example.com';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const docs = ofFile(() => buildIndexedSite(database.pool));
async function provenKey(rules: object = {}): Promise<string> {
  const json = { kind: 'assistant', proofOfWork: true, ...rules };
  const { body } = await api.ask('/v1/keys', { key: docs.adminKey, json });
  expect(body).toMatchObject({ proofOfWork: true });
  return body.key;
}

async function challengeOf(key: string, origin: string | null = own): Promise<{ challenge: string; bits: number }> {
  const headers: Record<string, string> = origin === null ? {} : { Origin: origin };
  return (await api.ask('/discovery/v1/challenge', { method: 'POST', key, headers })).body;
}

function zeroBits(text: string): number {
  const first = createHash('sha256').update(text).digest().readUInt32BE();
  return first === 0 ? 32 : Math.clz32(first);
}

/** Returns the first text whose digest begins with enough zero bits, or with too few. */
function solve({ challenge, bits }: { challenge: string; bits: number }, isSolved = true): string {
  for (let nonce = 0; ; nonce += 1) {
    const text = `${challenge}.${nonce}`;
    if (zeroBits(text) >= bits === isSolved) return text;
  }
}

const search = (): ReaderRequest => ['POST', `/discovery/v1/search/${docs.site.domain}`, { query: 'retry' }];
const statusWith = async (key: string, proof: string, origin: string | null = own) =>
  (await sendAsReader(api, key, search(), { origin, proof })).status;

describe('a key with a proof of work', () => {
  it('answers every kind of request with a solution only', async () => {
    const key = await provenKey();
    const proof = solve(await challengeOf(key));
    for (const request of readerRequests(docs.site.domain)) {
      const refused = await sendAsReader(api, key, request, { origin: own });
      expect([request, refused.status, refused.body.error]).toEqual([
        request,
        428,
        expect.stringMatching(/^This API key requires a proof of work\. Get a challenge from POST/),
      ]);
      expect(refused.headers.get('access-control-allow-origin')).toBe('*');
      const { status } = await sendAsReader(api, key, request, { origin: own, proof });
      expect([request, status === 428, status === 401]).toEqual([request, false, false]);
    }
  });

  it('answers pages of its own origin, for whose GET requests browsers send no Origin', async () => {
    const host = new URL(api.url).host;
    const read = async (site: string, { key, proof }: { key: string; proof: string }) => {
      const path = `/discovery/v2/assistant/${docs.site.domain}/message/c1/stream`;
      const headers = { 'X-Proof-Of-Work': proof, 'Sec-Fetch-Site': site };
      return (await api.ask(path, { method: 'GET', key, headers })).status;
    };
    for (const origin of [`http://${host}`, `https://${host}`]) {
      const key = await provenKey({ allowedOrigins: [origin] });
      const proof = solve(await challengeOf(key, origin));
      expect(await read('same-origin', { key, proof })).toBe(204);
      expect(await read('same-site', { key, proof })).toBe(403);
    }
    const key = await provenKey();
    expect(await read('same-origin', { key, proof: solve(await challengeOf(key)) })).toBe(428);
    const kept = await provenKey({ allowedOrigins: [own] });
    expect(await read('same-origin', { key: kept, proof: solve(await challengeOf(kept)) })).toBe(403);
  });

  it('accepts no solution of another key, of another website, or without the work', async () => {
    const key = await provenKey();
    const challenge = await challengeOf(key);
    const proof = solve(challenge);
    const [terms = '', signature = '', nonce = ''] = proof.split('.');
    const easier = Buffer.from(
      JSON.stringify({ ...JSON.parse(Buffer.from(terms, 'base64url').toString()), bits: 0 }),
    ).toString('base64url');
    expect(await statusWith(key, proof)).toBe(200);
    const refused: [string, string, (string | null)?][] = [
      ['of another key', solve(await challengeOf(await provenKey()))],
      ['of another website', proof, 'https://evil.example'],
      ['of no website', proof, null],
      ['without the work', solve(challenge, false)],
      ['with easier terms', `${easier}.${signature}.${nonce}`],
      [
        'with another signature',
        `${terms}.${signature.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}.${nonce}`,
      ],
      ['with a nonce that is no number', `${terms}.${signature}.x${nonce}`],
      ['of two', `${proof}, ${proof}`],
      ['of 10,000 characters', 'a'.repeat(10_000)],
    ];
    for (const [what, text, origin] of refused)
      expect([what, await statusWith(key, text, origin)]).toEqual([what, 428]);
  });

  it('is limited to 200 requests for a solution', async () => {
    const key = await provenKey();
    const proof = solve(await challengeOf(key));
    const first = await sendAsReader(api, key, search(), { origin: own, proof });
    expect(first.headers.get('ratelimit-policy')).toContain('"proof";q=200');
    const { id } = JSON.parse(Buffer.from(proof.split('.')[0] ?? '', 'base64url').toString());
    await database.pool.query('update rate_limits set current = 200 where key = $1', [`assistant-proof:${id}`]);
    const spent = await sendAsReader(api, key, search(), { origin: own, proof });
    expect([spent.status, spent.body.error]).toEqual([428, expect.stringContaining('reached its limit of requests')]);
    expect(await statusWith(key, solve(await challengeOf(key)))).toBe(200);
    // another challenge would not help against the limit of the key
    const limited = await provenKey({ requestsPerDay: 1 });
    const last = solve(await challengeOf(limited));
    expect(await statusWith(limited, last)).toBe(200);
    await database.pool.query(`update rate_limits set current = 200 where key like 'assistant-proof:%'`);
    expect(await statusWith(limited, last)).toBe(429);
  });

  it('keeps its limits for readers, however many challenges are asked for', async () => {
    await using small = await serveApi(database.pool, {
      DOCKET_ASSISTANT_PER_HOUR: '3',
      DOCKET_ASSISTANT_PER_IP_PER_DAY: '6',
    });
    const key = await provenKey({ requestsPerMinute: 3, requestsPerDay: 3 });
    await database.pool.query('delete from rate_limits');
    const proof = solve(await challengeOf(key));
    const ask = () =>
      small.ask('/discovery/v1/challenge', { method: 'POST', key, headers: { Origin: 'https://evil.example' } });
    const statuses: number[] = [];
    for (let count = 0; count < 7; count += 1) statuses.push((await ask()).status);
    // one challenge of the address was for the reader
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    for (let count = 0; count < 3; count += 1)
      expect((await sendAsReader(small, key, search(), { origin: own, proof })).status).toBe(200);
    expect((await sendAsReader(small, key, search(), { origin: own, proof })).status).toBe(429);
  });

  it('gets harder with the challenges of an address', async () => {
    const key = await provenKey();
    const bits: number[] = [];
    for (let count = 0; count < 41; count += 1) bits.push((await challengeOf(key)).bits);
    expect([bits[0], bits[9], bits[10], bits[19], bits[20], bits[40]]).toEqual([14, 14, 15, 15, 16, 17]);
  });
});

it('a key without the rule needs no proof', async () => {
  expect(await statusWith(docs.assistantKey, '')).toBe(200);
});

it('an admin key cannot require a proof', async () => {
  const json = { kind: 'admin', proofOfWork: true };
  expect((await api.ask('/v1/keys', { key: docs.adminKey, json })).status).toBe(400);
  const { body } = await api.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'admin' } });
  const change = { method: 'PATCH', key: docs.adminKey, json: { proofOfWork: true } };
  expect((await api.ask(`/v1/keys/${body.id}`, change)).status).toBe(404);
});
