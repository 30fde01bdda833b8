import { expect, it } from 'vitest';
import { createLinkResolver } from '../../../../api/assistant/resolve-link.ts';
import type { PageMetadata } from '../../../../search/read/source-page.ts';
import type { SiteIndex } from '../../../../search/query/site-index.ts';

const pages: Record<string, PageMetadata> = {
  index: { title: 'Home' },
  'guides/retries': { title: 'Retries', version: 'v2', groups: ['staff'], tags: ['http'] },
};

const index: SiteIndex = {
  weakScore: 0.4,
  vectorModel: null,
  search: () => [],
  suggest: () => [],
  pages: () => [],
  page(path) {
    const wanted = path.replace(/^\/+/, '') || 'index';
    const metadata = pages[wanted];
    return metadata === undefined ? null : { path: wanted, content: '', metadata };
  },
  hasLink: (path, anchor) => path in pages && (anchor === null || anchor === 'limit'),
};

const shown = [
  'See https://nodejs.org/api/http.html. Or https://nodejs.org/api/fs.html#flags, or mail mailto:help@example.com',
];

function resolveWith({ baseUrl = 'https://docs.example.com/', filter = null as object | null } = {}) {
  return createLinkResolver({ index, shown, filter, baseUrl });
}

it.each([
  ['/guides/retries', 'https://docs.example.com/guides/retries'],
  ['guides/retries#limit', 'https://docs.example.com/guides/retries#limit'],
  ['/guides/retries#invented', 'https://docs.example.com/guides/retries'],
  ['https://docs.example.com/guides/retries?x=1#limit', 'https://docs.example.com/guides/retries#limit'],
  ['https://docs.example.com', 'https://docs.example.com/'],
  ['https://nodejs.org/api/http.html', 'https://nodejs.org/api/http.html'],
  ['https://nodejs.org/api/fs.html#flags', 'https://nodejs.org/api/fs.html#flags'],
  ['mailto:help@example.com', 'mailto:help@example.com'],
])('knows %s', (target, url) => {
  expect(resolveWith()(target)?.url).toBe(url);
});

it.each([
  '/guides/nowhere',
  'https://docs.example.com/nowhere',
  'https://docs.example.com.evil.example/guides/retries',
  'https://nodejs.org/api/http',
  'https://nodejs.org/api/fs.html',
  'https://nodejs.org',
  'https://evil.example.com/',
  '//evil.example.com/guides/retries',
  'javascript:alert(1)',
  'data:text/html,x',
  'mailto:evil@example.com',
  '#limit',
  '',
])('does not know %j', (target) => {
  expect(resolveWith()(target)).toBeNull();
});

it.each([
  [{ version: 'V2 ' }, true],
  [{ version: 'v1' }, false],
  [{ tag: 'http' }, true],
  [{ tag: 'tcp' }, false],
  [{ groups: ['public', 'staff'] }, true],
  [{ groups: ['public'] }, false],
  [{ groups: [] }, true],
  [{ language: 'xx' }, true],
])('reaches no further than the filter %j', (filter, isKnown) => {
  expect(resolveWith({ filter })('/guides/retries') !== null).toBe(isKnown);
});

it('resolves the own addresses of pages that the model has seen, and no others', () => {
  const own = 'https://elsewhere.example/r';
  pages['crawled/r'] = { title: 'R', url: own };
  const resolve = createLinkResolver({
    index,
    shown,
    filter: null,
    baseUrl: null,
    ownUrls: new Map([[own, 'crawled/r']]),
  });
  expect(resolve(own)).toEqual({ url: own, path: 'crawled/r' });
  expect(resolve(`${own}#limit`)).toEqual({ url: `${own}#limit`, path: 'crawled/r' });
  expect(resolve(`${own}#none`)).toEqual({ url: own, path: 'crawled/r' });
  expect(resolve('/crawled/r')).toEqual({ url: own, path: 'crawled/r' });
  expect(resolve(`${own}x`)).toBeNull();
});

it('resolves addresses relative to a site without a base', () => {
  expect(createLinkResolver({ index, shown, filter: null, baseUrl: null })('/guides/retries')?.url).toBe(
    '/guides/retries',
  );
});
