import type { IncomingMessage, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { crawlLimits } from '../../../activities/sites/website/crawl.ts';
import { createPageNetwork } from '../../../activities/tools/fetch/fetch-page.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createWebsitePageStore } from '../../../db/sites/website-pages.ts';
import { buildSite, readSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { endless, page, redirect, startPageServer, type Answer } from '../../support/servers/page-server.ts';
import { toLoopback } from '../fetch/scene.ts';
import { search, startSiteWorker } from './site-worker.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

/** A page as documentation tools publish them, with decoration around its text. */
const html = (title: string, text: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>${title} | Acme</title>${head}</head><body>
   <nav>walrus</nav><main><h1>${title}</h1><p>${text}</p></main><footer>walrus</footer><script>walrus</script></body></html>`;

const notFound = (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(404).end();

interface Website extends AsyncDisposable {
  url: string;
  /** Answers by path. A test may change them. */
  answers: Record<string, Answer | string>;
  /** Paths asked for since the last call. */
  asked(): string[];
  requests: IncomingMessage[];
  index(): Promise<{ pages: number; changedPages: number; version: number }>;
  failure(): Promise<{ type: string; message: string }>;
  report(): Promise<{ prefix: string; pages: number; problem: string | null; skipped: string[] } | undefined>;
  find(query: string): Promise<string[] | null>;
}

/** A website, and a site with its pages below `docs`. */
async function startWebsite(
  answers: Record<string, Answer | string>,
  { path = '/', limits = {}, isPublicOnly = false }: { path?: string; limits?: object; isPublicOnly?: boolean } = {},
): Promise<Website> {
  await using resources = new AsyncDisposableStack();
  const server = resources.use(
    await startPageServer((request, response) => {
      const answer = answers[request.url ?? ''] ?? notFound;
      if (typeof answer === 'string') page(answer)(request, response);
      else answer(request, response);
    }),
  );
  const hosts = isPublicOnly ? [] : [server.host];
  const worker = resources.use(
    await startSiteWorker({
      database,
      change: () => ({
        pages: createPageNetwork({ hosts, privateHosts: hosts, resolve: toLoopback }),
        websites: { pages: createWebsitePageStore(database.pool), limits: { ...crawlLimits, delayMs: 0, ...limits } },
      }),
    }),
  );
  const url = `${server.url}${path}`;
  const site = await buildSite(database.pool, {
    repository: undefined,
    directory: undefined,
    sources: [{ kind: 'website', url, prefix: 'docs', weight: 1 }],
  });
  const running = resources.move();
  return {
    url: server.url,
    answers,
    asked: () => server.hits.splice(0),
    requests: server.requests,
    index: () => worker.index(site),
    failure: () => worker.failure(site),
    report: async () => (await createSiteIndexing(database.pool).get(site.id))?.indexReport?.sources?.[0],
    find: async (query) => search(database, await readSite(database.pool, site.id), query),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const urlset = (...urls: string[]) =>
  page(
    `<?xml version="1.0"?><urlset>${urls.map((url) => `<url><loc>${url}</loc></url>`).join('')}</urlset>`,
    'text/xml',
  );

/** Answers 304 to a request that knows the version. */
const versioned =
  (body: string, etag: string): Answer =>
  (request, response) =>
    request.headers['if-none-match'] === etag
      ? void response.writeHead(304).end()
      : page(body, 'text/html', { etag })(request, response);

const slow = { tags: ['slow'], timeout: 120_000 };

it('indexes the main content of the pages that links lead to, within the start and robots.txt', slow, async () => {
  await using site = await startWebsite(
    {
      '/robots.txt': page('User-agent: *\nDisallow: /guide/private\n', 'text/plain'),
      '/guide/': html(
        'Start',
        'The heron waits. <a href="a.html">A</a> <a href="private/x">X</a> <a href="/other">O</a> <a href="big.PNG">P</a> <a href="all.tar.gz">Z</a>',
      ),
      '/guide/a.html': html(
        'Install',
        'The badger digs. See <a href="../guide/b?x=1#y">B</a> and <a href="b#top">B</a>.',
      ),
      '/guide/b': html('Hidden', 'The otter.', '<meta name="robots" content="noindex">').replace(
        '</main>',
        '<a href="c">C</a></main>',
      ),
      '/guide/c': html('Copy', 'The stork.', '<link rel="canonical" href="/guide/a.html">'),
      '/guide/private/x': html('Private', 'The lynx.'),
      '/other': html('Other', 'The finch.'),
    },
    { path: '/guide/' },
  );
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(await site.find('badger')).toEqual(['Install']);
  for (const word of ['walrus', 'otter', 'lynx', 'finch', 'stork']) expect(await site.find(word)).toEqual([]);
  expect(site.asked().sort()).toEqual(
    ['/guide/', '/guide/a.html', '/guide/b', '/guide/c', '/guide/sitemap.xml', '/robots.txt', '/sitemap.xml'].sort(),
  );
  expect(await site.report()).toEqual({
    prefix: 'docs',
    pages: 2,
    problem: null,
    skipped: [
      `${site.url}/guide/private/x is not allowed by robots.txt.`,
      `${site.url}/guide/c is left out, because another page has its canonical address ${site.url}/guide/a.html.`,
    ],
  });
});

it('asks for changes only, and drops pages that are gone', slow, async () => {
  await using site = await startWebsite({
    '/robots.txt': page('', 'text/plain'),
    '/': versioned(html('Start', 'The heron waits. <a href="/a">A</a> <a href="/b">B</a> <a href="/c">C</a>'), '"1"'),
    '/a': versioned(html('A', 'The badger digs.'), '"1"'),
    '/b': versioned(html('B', 'The otter swims.'), '"1"'),
    '/c': versioned(html('C', 'The lynx hides.'), '"1"'),
  });
  expect(await site.index()).toMatchObject({ version: 1, pages: 4 });
  expect(await site.index()).toMatchObject({ version: 1, changedPages: 0 });
  site.answers['/a'] = versioned(html('A', 'The crane flies.'), '"2"');
  delete site.answers['/b'];
  site.answers['/c'] = (_request, response) => void response.writeHead(401).end();
  expect(await site.index()).toMatchObject({ version: 2, pages: 2 });
  expect(await site.find('crane')).toEqual(['A']);
  expect(await site.find('otter')).toEqual([]);
  expect(await site.find('lynx')).toEqual([]);
  expect((await site.report())?.skipped).toContain(`${site.url}/c needs a login (status 401).`);
  // pages as an earlier release read them
  await database.pool.query(`update website_pages set format = format - 1, name = 'other'`);
  expect(await site.index()).toMatchObject({ version: 2, changedPages: 0 });
  await site.index();
  expect(site.requests.filter(({ url }) => url === '/').map(({ headers }) => headers['if-none-match'])).toEqual([
    undefined,
    '"1"',
    '"1"',
    undefined,
    '"1"',
  ]);
});

it('reads sitemaps that robots.txt names, of this website only', slow, async () => {
  await using site = await startWebsite({});
  const index = `<sitemapindex><sitemap><loc>${site.url}/s.xml.gz</loc></sitemap><sitemap><loc>https://elsewhere.test/s.xml</loc></sitemap><sitemap><loc>${site.url}/index.xml</loc></sitemap></sitemapindex>`;
  const list = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${site.url}/a</loc></url><url><loc><![CDATA[${site.url}/b]]></loc></url><url><loc>https://elsewhere.test/c</loc></url></urlset>`;
  Object.assign(site.answers, {
    '/robots.txt': page(`Sitemap: ${site.url}/index.xml\nCrawl-delay: 0\n`, 'text/plain'),
    '/index.xml': page(index, 'text/xml'),
    '/s.xml.gz': page(gzipSync(list), 'application/gzip'),
    '/a': html('A', 'The badger digs. <a href="/d">D</a>'),
    '/b': html('B', 'The otter swims.'),
    '/d': html('D', 'The finch sings.'),
  });
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(site.asked()).toEqual(['/robots.txt', '/index.xml', '/s.xml.gz', '/a', '/b']);
});

it('keeps the pages when robots.txt cannot be read', slow, async () => {
  await using site = await startWebsite({
    '/robots.txt': notFound,
    '/': html('Start', 'The heron waits.'),
  });
  expect(await site.index()).toMatchObject({ version: 1, pages: 1 });
  site.answers['/robots.txt'] = (_request, response) => void response.writeHead(500).end();
  expect(await site.failure()).toEqual({
    type: 'site_unreadable',
    message: `${site.url}/robots.txt answered with status 500, so the website is not crawled.`,
  });
  expect(await site.find('heron')).toEqual(['Start']);
});

it('waits when it is asked to, and continues a crawl that was stopped', slow, async () => {
  let busy = 1;
  await using site = await startWebsite({
    '/': html('Start', 'The heron waits. <a href="/a">A</a> <a href="/b">B</a>'),
    '/a': (request, response) => {
      busy -= 1;
      if (busy >= 0) response.writeHead(429, { 'retry-after': '0' }).end();
      else page(html('A', 'The badger digs.'))(request, response);
    },
    '/b': (_request, response) => void response.writeHead(503, { 'retry-after': '3600' }).end(),
  });
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect((await site.report())?.problem).toMatch(/asks to wait 3600 seconds, so the crawl stopped\.$/);
  site.asked();
  site.answers['/b'] = html('B', 'The otter swims.');
  expect(await site.index()).toMatchObject({ pages: 3 });
  expect(site.asked()).toEqual(['/robots.txt', '/sitemap.xml', '/b']);
  expect((await site.report())?.problem).toBeNull();
  await site.index();
  expect(site.asked()).toContain('/a');
});

const bomb = gzipSync(Buffer.alloc(60_000_000, ' '));

it.each<[string, Answer | string, RegExp]>([
  ['is no HTML', page('%PDF', 'application/pdf'), /is not HTML/],
  ['has no type and is no page', page('hello', null), /is not HTML/],
  [
    'redirects elsewhere',
    redirect('http://elsewhere.test/'),
    /redirects to http:\/\/elsewhere\.test\/, which is outside/,
  ],
  ['redirects to itself', redirect('/bad'), /redirects more than 5 times/],
  ['never ends', endless('<p>x</p>'.repeat(1_000), { 'content-type': 'text/html' }), /has more than 2 MB/],
  ['expands without end', page(bomb, 'text/html', { 'content-encoding': 'gzip' }), /has more than 2 MB/],
  ['is no gzip', page('<html>', 'text/html', { 'content-encoding': 'gzip' }), /could not be read/],
  ['is nested too deeply', page(`<html><body>${'<div>'.repeat(5_000)}`), /has no readable page/],
  [
    'is published elsewhere',
    html('X', 'x', '<link rel="canonical" href="https://elsewhere.test/">'),
    /another website/,
  ],
  ['fails', (_request, response) => void response.writeHead(500).end(), /answered with status 500/],
])('leaves out a page that %s', slow, async (_what, bad, sentence) => {
  await using site = await startWebsite({
    '/': html('Start', 'The heron waits. <a href="/bad">Bad</a> <a href="/good">Good</a>'),
    '/bad': bad,
    '/good': html('Good', 'The badger digs.'),
  });
  expect(await site.index()).toMatchObject({ pages: 2 });
  expect(await site.report()).toMatchObject({ problem: null, skipped: [expect.stringMatching(sentence)] });
});

it('ends in a calendar without end', slow, async () => {
  const day = (at: number) =>
    html(`Day ${at}`, `The heron. <a href="/day/${at + 1}">next</a> <a href="?d=${at}">x</a>`);
  const days: Record<string, Answer | string> = { '/': day(0) };
  const answers = new Proxy(days, {
    get: (known, path: string) => known[path] ?? (path.startsWith('/day/') ? day(Number(path.slice(5))) : undefined),
  });
  await using site = await startWebsite(answers, { limits: { pages: 10 } });
  expect(await site.index()).toMatchObject({ pages: 10 });
  expect(await site.report()).toMatchObject({ problem: null, skipped: ['Only the first 10 pages are indexed.'] });
});

it.each<[string, Buffer | string]>([
  ['expands without end', bomb],
  [
    'has entities that grow',
    `<!DOCTYPE x [<!ENTITY a "${'a'.repeat(1_000)}">]><urlset><url><loc>&a;&a;</loc></url></urlset>`,
  ],
  ['is nested without end', '<urlset>'.repeat(500_000)],
  ['is HTML', html('Not found', 'x')],
])('follows links when the sitemap %s', slow, async (_what, body) => {
  await using site = await startWebsite({
    '/': html('Start', 'The heron waits.'),
    '/sitemap.xml': page(body, 'text/xml'),
  });
  expect(await site.index()).toMatchObject({ pages: 1 });
});

it('does not reach private addresses unless the operator names the host for pages', slow, async () => {
  await using site = await startWebsite({ '/': html('Start', 'The heron waits.') }, { isPublicOnly: true });
  expect(await site.failure()).toEqual({
    type: 'site_unreadable',
    message: expect.stringMatching(/leads to a private address, which is not allowed\.$/),
  });
  expect(site.asked()).toEqual([]);
});

it('counts the pages of a sitemap as its own', slow, async () => {
  await using site = await startWebsite({}, { path: '/docs/sitemap.xml' });
  Object.assign(site.answers, {
    '/docs/sitemap.xml': urlset(`${site.url}/docs/a`, `${site.url}/blog/b`),
    '/docs/a': html('A', 'The badger digs.'),
    '/blog/b': html('B', 'The otter swims.'),
  });
  expect(await site.index()).toMatchObject({ pages: 1 });
  expect(await site.find('badger')).toEqual(['A']);
});
