import { expect, it } from 'vitest';
import { crawlLimits, crawlWebsite } from '../../../activities/sites/website/crawl.ts';
import { createWebsitePageStore } from '../../../db/sites/website-pages.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { page, startPageServer } from '../../support/servers/page-server.ts';
import { toLoopback } from '../fetch/scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const linked = (...links: string[]) =>
  `<main><h1>Page</h1><p>A heron.</p>${links.map((link) => `<a href="${link}">x</a>`).join('')}</main>`;

/** Crawls a website of three pages, and returns its requests and what it waited for between them, in milliseconds. */
async function crawl(robots: string, { busy = 0 } = {}): Promise<(string | number)[]> {
  const events: (string | number)[] = [];
  let left = busy;
  const pages: Record<string, string> = { '/': linked('/a', '/b'), '/a': linked(), '/b': linked() };
  await using server = await startPageServer((request, response) => {
    const path = request.url ?? '';
    events.push(path);
    if (path === '/robots.txt') page(robots, 'text/plain')(request, response);
    else if (path === '/a' && left-- > 0) response.writeHead(429, { 'retry-after': '7' }).end();
    else if (pages[path] === undefined) response.writeHead(404).end();
    else page(pages[path])(request, response);
  });
  const { id, organizationId } = await buildSite(database.pool);
  const crawled = await crawlWebsite(
    {
      egress: createEgress({ privateHosts: [server.host], resolve: toLoopback }),
      pages: createWebsitePageStore(database.pool),
      limits: crawlLimits,
      wait: async (ms) => void events.push(ms),
    },
    { id, organizationId, prefix: '', url: server.url },
    new AbortController().signal,
  );
  expect([crawled.problem, crawled.pages.length]).toEqual([null, 3]);
  return events;
}

const paths = ['/robots.txt', '/sitemap.xml', '/', '/a', '/b'];
/** The requests with a gap before each but the first. */
const spaced = (gapMs: number) => paths.flatMap((path, at) => (at === 0 ? [path] : [gapMs, path]));

it.each<[string, string, number]>([
  ['a quarter of a second', '', 250],
  ['as long as robots.txt asks', 'User-agent: *\nCrawl-delay: 2\n', 2_000],
  [
    'as long as robots.txt asks of Docket',
    'User-agent: *\nCrawl-delay: 2\n\nUser-agent: Docket\nCrawl-delay: 3\n',
    3_000,
  ],
  ['never less than a quarter of a second', 'User-agent: *\nCrawl-delay: 0.1\n', 250],
  ['never more than half a minute', 'User-agent: *\nCrawl-delay: 3600\n', 30_000],
])('waits %s between the requests of a crawl', async (_long, robots, gapMs) => {
  expect(await crawl(robots)).toEqual(spaced(gapMs));
});

it('waits as long as a busy website asks, and then keeps its distance', async () => {
  const events = await crawl('User-agent: *\nCrawl-delay: 1\n', { busy: 2 });
  const refused = ['/a', 7_000];
  expect(events.slice(events.indexOf('/a'))).toEqual([...refused, 1_000, ...refused, 1_000, '/a', 1_000, '/b']);
});
