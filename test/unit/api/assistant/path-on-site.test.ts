import { expect, it } from 'vitest';
import { pathOnSite } from '../../../../api/assistant/path-on-site.ts';
import { pathOf } from '../../../../search/read/paths.ts';

const pages = [
  'index',
  'de/install',
  'about',
  'docs/about',
  'guides/index',
  'blog/index',
  'blog/2026/news',
  'über/uns',
];
const index = {
  page(sent: string) {
    const path = pages.find((known) => known === pathOf(sent) || known === `${pathOf(sent)}/index`);
    return path === undefined ? null : { path, content: '', metadata: { title: path } };
  },
};
const site = {
  baseUrl: 'https://example.com/docs/',
  sources: [{ kind: 'website' as const, url: 'https://blog.example.com/all/start.html', prefix: 'blog', weight: 1 }],
};
const foundFrom = (sent: string, of: typeof site | { baseUrl: null; sources: [] } = site) =>
  index.page(pathOnSite(sent, { site: of, index }))?.path ?? null;

it.each([
  ['/de/install', 'de/install'],
  ['de/install.md', 'de/install'],
  ['/de/install/index.html', 'de/install'],
  ['/docs/de/install', 'de/install'],
  ['/docs/de/install/', 'de/install'],
  ['/docs/de/install/index.html?x=1#y', 'de/install'],
  ['/docs/guides/', 'guides/index'],
  ['/docs', 'index'],
  ['/docs/index.html', 'index'],
  ['/', 'index'],
  ['/docs/%C3%BCber/uns', 'über/uns'],
  ['/all/2026/news.html', 'blog/2026/news'],
  ['/all/', 'blog/index'],
  ['/docsify/de/install', null],
  ['/other', null],
])('finds the page of %s', (sent, page) => {
  expect(foundFrom(sent)).toBe(page);
});

it('takes a path as it is if a page has it', () => {
  expect(pathOnSite('/docs/about', { site, index })).toBe('/docs/about');
  expect(pathOnSite('/docs/about', { site: { ...site, baseUrl: 'https://example.com' }, index })).toBe('/docs/about');
  expect(foundFrom('/docs/de/install', { baseUrl: null, sources: [] })).toBeNull();
});

it('keeps an unlisted page in its folder', () => {
  expect(pathOnSite('/docs/guides/new', { site, index })).toBe('/guides/new');
  expect(pathOnSite('/guides/new', { site, index })).toBe('/guides/new');
});
