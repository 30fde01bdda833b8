import { expect, it } from 'vitest';
import { analyticsSchema } from '../../../api/analytics/schemas.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { askReader } from '../api/stage-gaps.ts';
import { buildIndexedSite, type TestSite } from '../assistant/site.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));

const ask = (site: TestSite, text: string, more?: Record<string, unknown>) => askReader(api, site, text, more);

const rate = ({ site, assistantKey: key }: TestSite, answer: object, vote: 'up' | 'down') =>
  api.ask(`/discovery/v2/assistant/${site.domain}/feedback`, { key, json: { ...answer, vote } });

async function analyticsOf({ site, adminKey: key }: TestSite, query = '') {
  const { status, body } = await api.ask(`/v1/sites/${site.domain}/analytics${query}`, { key });
  expect(status).toBe(200);
  return analyticsSchema.parse(body);
}

const answerable = 'How do I set the retry limit?';

it('counts questions by topic, language and page, votes, deflection and gaps', async () => {
  const docs = await buildIndexedSite(database.pool);
  const first = await ask(docs, answerable);
  await rate(docs, first, 'up');
  await ask(docs, answerable, { threadId: first.threadId });
  await ask(docs, 'How do I paint the gearbox?');
  await ask(docs, answerable, { fp: 'playground' });
  const { totals, series, topics, languages, cited, gaps } = await analyticsOf(docs);
  expect(totals).toEqual({
    questions: 3,
    answered: 2,
    unanswered: 1,
    interrupted: 0,
    up: 1,
    down: 0,
    costUsd: 0,
    conversations: 2,
    resolved: 1,
    confirmed: 1,
    answeredShare: 2 / 3,
    deflection: { confirmed: 0.5, resolved: 0.5 },
  });
  expect(series).toHaveLength(30);
  // midnight may pass between the questions
  const lately = series.slice(-2);
  expect(lately.reduce((sum, { questions }) => sum + questions, 0)).toBe(3);
  expect(lately.reduce((sum, { conversations }) => sum + conversations, 0)).toBe(2);
  expect(topics.find(({ name }) => name === 'guides')).toMatchObject({ answered: 2 });
  expect(languages).toMatchObject([{ name: 'en', answered: 2, unanswered: 1 }]);
  expect(cited[0]).toEqual({ path: 'guides/retries', cited: 2, opened: 0 });
  expect(gaps).toMatchObject([{ label: 'How do I paint the gearbox?', count: 1, state: 'open' }]);
  expect((await analyticsOf(docs, '?language=en')).totals).toMatchObject({ questions: 3, conversations: 2 });
  expect((await analyticsOf(docs, '?language=')).totals.questions).toBe(0);
  expect((await analyticsOf(docs, '?days=7')).series.length).toBeGreaterThan(6 * 24);
});

it('counts the pages that readers open, but not those that someone signed in looks at', async () => {
  const docs = await buildIndexedSite(database.pool);
  const { domain } = docs.site;
  const key = docs.assistantKey;
  for (const path of ['guides/retries', '/guides/install', 'no/such'])
    await api.ask(`/discovery/v1/page/${domain}`, { key, json: { path } });
  await api.ask(`/discovery/v1/docs/${domain}/guides/retries.md`, { key });
  const session = await api.ask('/v1/session', { json: { key: docs.adminKey } });
  const cookie = session.headers.get('set-cookie')?.split(';')[0] ?? '';
  const seen = await api.ask(`/discovery/v1/page/${domain}`, {
    json: { path: 'guides/install' },
    headers: { cookie, origin: api.url, 'sec-fetch-site': 'same-origin' },
  });
  expect(seen.status).toBe(200);
  await api.openedPages.flush();
  expect((await analyticsOf(docs)).opened).toEqual([
    { path: 'guides/retries', cited: 0, opened: 2 },
    { path: 'guides/install', cited: 0, opened: 1 },
  ]);
});

it('leads to the conversations, and keeps nothing of a deleted one but its count', async () => {
  const docs = await buildIndexedSite(database.pool);
  const kept = await ask(docs, answerable);
  const removed = await ask(docs, 'How do I paint the secret gearbox?', { fp: 'somebody' });
  const list = async (query: string) => {
    const { body } = await api.ask(`/v1/sites/${docs.site.domain}/conversations?${query}`, { key: docs.adminKey });
    return body.conversations.map(({ threadId }: { threadId: string }) => threadId);
  };
  expect(await list('topic=guides&language=en')).toContain(kept.threadId);
  expect(await list('page=guides/retries')).toEqual([kept.threadId]);
  expect(await list('page=guides/retries&topic=other')).toEqual([]);
  const hour = (hours: number) => encodeURIComponent(new Date(Date.now() + hours * 3_600_000).toISOString());
  expect(await list(`since=${hour(-1)}&until=${hour(1)}`)).toEqual([removed.threadId, kept.threadId]);
  expect(await list(`since=${hour(1)}`)).toEqual([]);
  expect(await list(`until=${hour(-1)}`)).toEqual([]);

  const path = `/discovery/v1/assistant/${docs.site.domain}/thread/${removed.threadId}`;
  expect((await api.ask(path, { key: docs.adminKey, method: 'DELETE' })).status).toBe(204);
  const left = await analyticsOf(docs);
  expect(left.totals).toMatchObject({ questions: 2, conversations: 2 });
  expect(JSON.stringify(left)).not.toMatch(/gearbox|somebody|thr_/);
  for (const table of ['site_facts', 'site_rollups', 'site_page_rollups'])
    expect(
      (await database.pool.query(`select from ${table} as row where row::text ~ 'gearbox|somebody|thr_'`)).rowCount,
    ).toBe(0);
  expect((await api.ask(`/v1/sites/${docs.site.domain}`, { key: docs.adminKey, method: 'DELETE' })).status).toBe(204);
  expect((await database.pool.query('select from site_facts where site_id = $1', [docs.site.id])).rowCount).toBe(0);
});

it('counts nothing on a site that stores nothing about its readers', async () => {
  const docs = await buildIndexedSite(database.pool, { retentionDays: 0 });
  await ask(docs, answerable);
  await api.ask(`/discovery/v1/page/${docs.site.domain}`, { key: docs.assistantKey, json: { path: 'guides/retries' } });
  await api.openedPages.flush();
  const { totals, opened } = await analyticsOf(docs);
  expect([totals.questions, totals.conversations, opened]).toEqual([0, 0, []]);
});

it('exports each list as CSV, and refuses other periods, tables and organizations', async () => {
  const docs = await buildIndexedSite(database.pool);
  await ask(docs, '=HYPERLINK("https://evil.example")');
  const path = `/v1/sites/${docs.site.domain}/analytics`;
  const get = (query: string, key = docs.adminKey) => api.ask(`${path}${query}`, { key });
  const csv = await get('/csv?table=gaps');
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(csv.headers.get('content-disposition')).toBe(`attachment; filename="${docs.site.domain}-gaps.csv"`);
  expect(csv.text.split('\r\n')[0]).toBe('id,label,state,count,lastAskedAt');
  expect(csv.text).toContain(`"'=HYPERLINK(""https://evil.example"")",open,1,`);
  const series = await get('/csv?days=2');
  const hours = (await analyticsOf(docs, '?days=2')).series.length; // from midnight to now; the hour may end in between
  expect([hours, hours - 1, hours + 23]).toContain(series.text.split('\r\n').length - 2);
  for (const table of ['topics', 'versions', 'languages', 'cited', 'opened'])
    expect((await get(`/csv?table=${table}`)).status).toBe(200);
  for (const query of ['?days=0', '?days=366', '/csv?table=threads', '?fp=x'])
    expect((await get(query)).status).toBe(400);
  expect((await get('', docs.assistantKey)).status).toBe(403);
  const other = await buildIndexedSite(database.pool);
  expect((await get('', other.adminKey)).status).toBe(404);
  expect((await get('/csv', other.adminKey)).status).toBe(404);
});
