import { expect, it } from 'vitest';
import { crawlLimits, crawlWebsite } from '../../../activities/sites/website/crawl.ts';
import { createWebsitePageStore } from '../../../db/sites/website-pages.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { page, redirect, startPageServer, type Answer } from '../../support/servers/page-server.ts';
import { toLoopback } from '../fetch/scene.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);

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

it.each<[string, Answer, RegExp]>([
  ['fails', status(500), /b\.xml answered with status 500, so pages may be missing\.$/],
  ['is refused', status(403), /b\.xml answered with status 403, so pages may be missing\.$/],
  ['leads to another website', redirect('https://login.test/'), /b\.xml redirects to https:\/\/login\.test\/, which/],
  ['ends early', sitemap('urlset', ['/b1'], '<url><loc>'), /b\.xml ends early or is not valid XML, so pages/],
])('keeps the pages of a sitemap that %s, unless they are gone', async (_what, bad, problem) => {
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('sitemapindex', ['/a.xml', '/b.xml']),
    '/a.xml': sitemap('urlset', ['/a1', '/a2']),
    '/b.xml': sitemap('urlset', ['/b1', '/b2', '/b3']),
    ...Object.fromEntries(['/a1', '/a2', '/b1', '/b2', '/b3'].map((path) => [path, html(path)])),
  });
  expect(await site.crawl()).toMatchObject({ paths: ['/a1', '/a2', '/b1', '/b2', '/b3'], problem: null });
  Object.assign(site.answers, { '/b.xml': bad, '/b3': status(404) });
  const incomplete = { paths: ['/a1', '/a2', '/b1', '/b2'], problem: expect.stringMatching(problem) };
  expect(await site.crawl()).toMatchObject(incomplete);
  site.requests();
  expect(await site.crawl()).toMatchObject(incomplete);
  expect(site.requests()).toEqual(expect.arrayContaining(['/a1', '/a2', '/b1', '/b2']));
});

it('keeps the pages, and follows no links, when the only sitemap fails', async () => {
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', ['/a', '/b']),
    '/': html('Home'),
    '/a': html('A'),
    '/b': html('B'),
  });
  expect(await site.crawl()).toMatchObject({ paths: ['/a', '/b'], problem: null });
  site.answers['/sitemap.xml'] = status(500);
  expect(await site.crawl()).toMatchObject({
    paths: ['/a', '/b'],
    problem: `The sitemap ${site.url}/sitemap.xml answered with status 500, so pages may be missing.`,
  });
});

it('follows links where servers refuse to say that there is no sitemap', async () => {
  await using site = await startWebsite({
    '/sitemap.xml': status(403),
    '/': page('<main><h1>Home</h1><p>Here. <a href="/a">A</a></p></main>'),
    '/a': html('A'),
  });
  const crawled = { paths: ['/', '/a'], problem: null };
  expect(await site.crawl()).toMatchObject(crawled);
  expect(await site.crawl()).toMatchObject(crawled);
});

it('reads sitemaps whose ampersands are not escaped', async () => {
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', ['/?a=1&b', '/q&a', '/b&amp;b', '/c&eacute;']),
    '/q&a': html('Questions'),
    '/b&b': html('Breakfast'),
    '/c&eacute;': html('Coffee'),
  });
  expect(await site.crawl()).toEqual({ paths: ['/b&b', '/c&eacute;', '/q&a'], problem: null, skipped: [] });
});

it('removes pages that need a login or have left the website, also while a crawl is stopped', async () => {
  const paths = ['/docs/f', '/docs/login', '/docs/moved', '/docs/open', '/docs/private', '/docs/x'];
  await using site = await startWebsite({
    '/docs/sitemap.xml': sitemap('urlset', paths),
    ...Object.fromEntries(paths.map((path) => [path, html(path)])),
  });
  expect((await site.crawl('/docs/')).paths).toEqual(paths);
  Object.assign(site.answers, {
    '/robots.txt': page('User-agent: *\nDisallow: /docs/disallowed\n', 'text/plain'),
    '/docs/f': status(403),
    '/docs/login': redirect('https://login.test/?next=x'),
    '/docs/moved': redirect('/new/moved', 301),
    '/docs/private': redirect('/docs/disallowed'),
    '/docs/x': status(429),
  });
  const stopped = await site.crawl('/docs/');
  expect(stopped.paths).toEqual(['/docs/open', '/docs/x']);
  expect(stopped.skipped).toEqual([
    `${site.url}/docs/f is forbidden (status 403).`,
    `${site.url}/docs/login redirects to https://login.test/?next=x, which is outside the website.`,
    `${site.url}/docs/moved redirects to ${site.url}/new/moved, which is outside the website.`,
    `${site.url}/docs/private redirects to ${site.url}/docs/disallowed, which robots.txt does not allow.`,
  ]);
  site.answers['/docs/sitemap.xml'] = status(429);
  expect((await site.crawl('/docs/')).paths).toEqual(['/docs/open', '/docs/x']);
});

it('keeps the pages of a website that refuses every program', async () => {
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', ['/a', '/b']),
    '/a': html('A'),
    '/b': html('B'),
  });
  await site.crawl();
  Object.assign(site.answers, { '/a': status(403), '/b': status(403) });
  expect(await site.crawl()).toMatchObject({ paths: ['/a', '/b'], problem: null });
  site.answers['/b'] = status(304);
  expect(await site.crawl()).toMatchObject({ paths: ['/b'], problem: null });
});

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

it('leaves out the pages that robots may not index, and no others', async () => {
  const tagged =
    (...tags: string[]): Answer =>
    (request, response) => {
      response.setHeader('x-robots-tag', tags);
      html('Tagged')(request, response);
    };
  const kept = ['/home', '/other', '/preview', '/tag'];
  const paths = [...kept, '/docket', '/meta', '/none', '/second'];
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', paths),
    '/docket': tagged('otherbot: nofollow, docket: noindex'),
    '/home': html('Home'),
    '/meta': html('Meta', '<meta name="docket" content="noindex"><meta name="robots" content="max-snippet:-1">'),
    '/none': tagged('unavailable_after: 25 Jun 2010 15:00:00 PST, none'),
    '/other': tagged('otherbot: nofollow, noindex', 'max-snippet: -1'),
    '/preview': html('Preview', '<meta name="robots" content="index, max-image-preview:none">'),
    '/second': tagged('otherbot: nofollow', 'noindex'),
    '/tag': tagged('max-image-preview: none'),
  });
  expect((await site.crawl()).paths).toEqual(kept);
});

it('follows pages that only redirect, and leaves them out', async () => {
  const refresh = (content: string) => html('Redirecting', `<meta http-equiv="Refresh" content="${content}">`);
  await using site = await startWebsite({
    '/': refresh("0; URL='latest/'"),
    '/latest/': page(
      `<html><head><meta http-equiv="refresh" content="30; url=#top"><noscript><meta http-equiv="refresh" content="0; url=/no">
       </noscript></head><body><main><h1>Latest</h1><p>Here. <a href="/old">A</a> <a href="/clock">B</a></p></main></body></html>`,
    ),
    '/old': refresh('3;/latest/new'),
    '/clock': refresh('60'),
    '/latest/new': html('New'),
  });
  expect((await site.crawl()).paths).toEqual(['/clock', '/latest/', '/latest/new']);
});

it('names the pages that are left out because another page has their canonical address', async () => {
  const copy = html('Home', '<link rel="canonical" href="/">');
  await using site = await startWebsite({
    '/sitemap.xml': sitemap('urlset', ['/a', '/', '/same', '/moved']),
    '/': copy,
    '/a': html('A', '<link rel="canonical" href="/">'),
    '/same': copy,
    '/moved': redirect('/'),
  });
  expect(await site.crawl()).toEqual({
    paths: ['/'],
    problem: null,
    skipped: [`${site.url}/a is left out, because another page has its canonical address ${site.url}/.`],
  });
});
