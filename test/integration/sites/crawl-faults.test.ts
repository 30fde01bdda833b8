import { afterAll, beforeAll, expect, it } from 'vitest';
import { crawlLimits, crawlWebsite } from '../../../activities/sites/website/crawl.ts';
import { createWebsitePageStore } from '../../../db/sites/website-pages.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database/database.ts';
import { page, startPageServer, type Answer } from '../../support/servers/page-server.ts';
import { toLoopback } from '../fetch/scene.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

const html = (title: string, head = '') =>
  page(
    `<!doctype html><html><head>${head}</head><body><main><h1>${title}</h1><p>About ${title}.</p></main></body></html>`,
  );
const status =
  (code: number): Answer =>
  (_request, response) =>
    void response.writeHead(code).end();

/** A website that answers by path. A test may change its answers. */
async function startWebsite(answers: Record<string, Answer>) {
  const server = await startPageServer((request, response) =>
    (answers[request.url ?? ''] ?? status(404))(request, response),
  );
  const { id, organizationId } = await buildSite(database.pool);
  return {
    url: server.url,
    answers,
    requests: () => server.hits.splice(0),
    /** Crawls it and returns the paths of its pages. */
    async crawl(start = '/') {
      const { pages, ...crawled } = await crawlWebsite(
        {
          egress: createEgress({ privateHosts: [server.host], resolve: toLoopback }),
          pages: createWebsitePageStore(database.pool),
          limits: crawlLimits,
          wait: async () => undefined,
        },
        { id, organizationId, prefix: '', url: server.url + start },
        new AbortController().signal,
      );
      return { ...crawled, paths: pages.map(({ canonical }) => new URL(canonical).pathname).toSorted() };
    },
    [Symbol.asyncDispose]: server[Symbol.asyncDispose],
  };
}

/** A sitemap with addresses of the website that is asked for it. */
const sitemap =
  (element: 'urlset' | 'sitemapindex', paths: string[], end = `</${element}>`): Answer =>
  (request, response) => {
    const entry = (path: string) => `<url><loc>http://${request.headers.host}${path}</loc></url>`;
    const entries = paths
      .map(entry)
      .join('')
      .replaceAll('url>', element === 'urlset' ? 'url>' : 'sitemap>');
    page(`<?xml version="1.0"?><${element}>${entries}${end}`, 'text/xml')(request, response);
  };

it('stops when the website limits the rate, or fails for several pages in a row, and continues with the next index', async () => {
  const paths = Array.from({ length: 12 }, (_, at) => `/p${at + 10}`);
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', paths),
    ...Object.fromEntries(paths.map((path) => [path, html(path)])),
    '/p10': status(503),
    '/p13': status(429),
  });
  expect(await site.crawl()).toMatchObject({
    paths: ['/p11', '/p12'],
    problem: expect.stringMatching(/^pages\.test:\d+ answers with status 429, so the crawl stopped\.$/),
  });
  expect(site.requests().filter((path) => path.startsWith('/p'))).toEqual([
    '/p10',
    '/p10',
    '/p10',
    '/p11',
    '/p12',
    '/p13',
    '/p13',
    '/p13',
  ]);
  site.answers['/p10'] = html('/p10');
  for (const path of paths.slice(3)) site.answers[path] = status(503);
  expect(await site.crawl()).toMatchObject({
    paths: ['/p10', '/p11', '/p12'],
    problem: expect.stringMatching(/can no longer be reached\.$/),
  });
  expect(new Set(site.requests().slice(2))).toEqual(new Set(['/p10', ...paths.slice(3, 8)]));
});
