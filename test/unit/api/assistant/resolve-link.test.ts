import { afterAll, expect, it } from 'vitest';
import { createLinkResolver } from '../../../../api/assistant/resolve-link.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { buildPage, indexOf } from '../../search/build.ts';

const own = 'https://elsewhere.example/r';
const index = indexOf(temporaryDirectory(), [
  buildPage({ path: 'index', content: 'Welcome.', metadata: { title: 'Home' } }),
  buildPage({
    path: 'guides/retries',
    content: 'Retries.\n\n## Limit\n\nThree.',
    metadata: { title: 'Retries', version: 'v2', groups: ['staff'], tags: ['http'] },
  }),
  buildPage({ path: 'crawled/r', content: '## Limit\n\nFour.', metadata: { title: 'R', url: own } }),
]);
afterAll(() => index[Symbol.dispose]());

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
  [{ language: 'en' }, true],
  [{ language: 'xx' }, false],
])('reaches no further than the filter %j', (filter, isKnown) => {
  expect(resolveWith({ filter })('/guides/retries') !== null).toBe(isKnown);
});

it('resolves the own addresses of pages that the model has seen, and no others', () => {
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
