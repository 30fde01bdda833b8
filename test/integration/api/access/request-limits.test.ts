import { afterAll, beforeAll, expect, it } from 'vitest';
import { buildSite } from '../../../support/database/build.ts';
import { buildIndexedSite, publishPages, type TestSite } from '../../assistant/site.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { readerRequests, sendAsReader } from './reader-requests.ts';
import { serveApi, type ServedApi } from '../serve.ts';

let database: TestDatabase;
const apis: ServedApi[] = [];
beforeAll(async () => {
  database = await createTestDatabase();
  for (const _ of [1, 2]) apis.push(await serveApi(database.pool));
});
afterAll(async () => {
  for (const api of apis) await api[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

/** Sends every request that an assistant key can make, to both processes at once. */
function askAll(domain: string, key: string) {
  return Promise.all(
    readerRequests(domain).map((request, at) => sendAsReader(apis[at % 2]!, key, request, { origin: null })),
  );
}

const refusedOf = (answers: { status: number }[]) => answers.filter(({ status }) => status === 429).length;
const change = (docs: TestSite, path: string, json: object) =>
  apis[0]!.ask(path, { method: 'PATCH', key: docs.adminKey, json });

it('allows exactly as many requests about a site as its limit, whichever keys they use', async () => {
  const docs = await buildIndexedSite(database.pool);
  const other = await buildSite(database.pool, { organizationId: docs.organizationId });
  await publishPages(database.pool, other, { 'a.md': '# A\n\nB.\n' });
  const second = await apis[0]!.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'assistant' } });
  const site = `/v1/sites/${docs.site.domain}`;
  expect((await change(docs, site, { requestsPerDay: 15 })).body).toMatchObject({
    requestsPerMinute: null,
    requestsPerDay: 15,
  });
  const answers = [
    ...(await askAll(docs.site.domain, docs.assistantKey)),
    ...(await askAll(docs.site.domain, second.body.key)),
  ];
  expect(refusedOf(answers)).toBe(answers.length - 15);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.body.error).toMatch(/^Too many requests; try again in \d+ seconds\.$/);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(refused.headers.get('ratelimit-policy')).toContain('"site-day";q=15;w=86400');
  expect(refusedOf(await askAll(other.domain, docs.assistantKey))).toBe(0);
});

it('allows exactly as many requests with a key as its limit, for any site', async () => {
  const docs = await buildIndexedSite(database.pool);
  const json = { kind: 'assistant', requestsPerDay: 4 };
  const { body } = await apis[0]!.ask('/v1/keys', { key: docs.adminKey, json });
  expect(body).toMatchObject({ requestsPerMinute: null, requestsPerDay: 4 });
  const answers = await askAll(docs.site.domain, body.key);
  expect(refusedOf(answers)).toBe(answers.length - 4);
  expect(answers[0]!.headers.get('ratelimit-policy')).toContain('"key-day";q=4;w=86400');
  expect(refusedOf(await askAll(docs.site.domain, docs.assistantKey))).toBe(0);
});

it('limits requests per minute, and no longer once the limits are removed', async () => {
  const docs = await buildIndexedSite(database.pool);
  const json = { kind: 'assistant', requestsPerMinute: 2 };
  const { body } = await apis[0]!.ask('/v1/keys', { key: docs.adminKey, json });
  const answers = await askAll(docs.site.domain, body.key);
  expect(refusedOf(answers)).toBeGreaterThan(0);
  const refused = answers.find(({ status }) => status === 429)!;
  expect(refused.headers.get('ratelimit-policy')).toContain('"key-minute";q=2;w=60');
  // half of the next minute, in which the two requests of this one still count, passes too
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(90);
  const changed = await change(docs, `/v1/keys/${body.id}`, { requestsPerMinute: null });
  expect(changed.body).toMatchObject({ requestsPerMinute: null, allowedOrigins: [] });
  await expect.poll(async () => refusedOf(await askAll(docs.site.domain, body.key)), { timeout: 60_000 }).toBe(0);
});

it('refuses limits of zero, and limits of admin keys', async () => {
  const docs = await buildIndexedSite(database.pool);
  for (const requestsPerDay of [0, -1, 0.5, 1_000_001]) {
    expect((await change(docs, `/v1/sites/${docs.site.domain}`, { requestsPerDay })).status).toBe(400);
  }
  const admin = await apis[0]!.ask('/v1/keys', { key: docs.adminKey, json: { kind: 'admin' } });
  expect((await change(docs, `/v1/keys/${admin.body.id}`, { requestsPerDay: 1 })).status).toBe(404);
  expect((await change(docs, `/v1/keys/${admin.body.id}`, { requestsPerDay: null })).status).toBe(200);
  const json = { kind: 'admin', requestsPerDay: 1 };
  expect((await apis[0]!.ask('/v1/keys', { key: docs.adminKey, json })).status).toBe(400);
});
