import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createLinkResolver } from '../../../../api/assistant/resolve-link.ts';
import { buildIndex } from '../../../../search/build/build-index.ts';
import { openVectorWriter } from '../../../../search/build/vectors.ts';
import type { SearchFilter } from '../../../../search/query/search-request.ts';
import { openSiteIndex } from '../../../../search/query/site-index.ts';
import { buildPage } from '../build.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();

function build(name: string, pages: Parameters<typeof buildPage>[0][]) {
  const file = join(folder, `${name}.db`);
  buildIndex(pages.map(buildPage), { file });
  using writer = openVectorWriter(file, { model: 'compatible/embed' });
  writer.add(
    writer.missing,
    writer.missing.map(() => [1, 0]),
  );
  return openSiteIndex(file);
}

it('finds, reads, suggests and links the same pages under a filter', () => {
  const content = 'A zebra has stripes.';
  using opened = build('filtered', [
    { path: 'plain', content, metadata: { title: 'Zebra plain' } },
    { path: 'en', content, metadata: { title: 'Zebra en', language: 'en' } },
    { path: 'fr', content, metadata: { title: 'Zebra fr', language: 'FR' } },
    { path: 'shown', content, metadata: { title: 'Zebra shown', language: 'en', shownIn: ['fr', 'pt-BR'] } },
    { path: 'us', content, metadata: { title: 'Zebra us', language: 'en-US', version: 'v2', tags: ['Wild'] } },
    { path: 'br', content, metadata: { title: 'Zebra br', language: 'pt_BR' } },
    { path: 'han', content, metadata: { title: 'Zebra han', language: 'zh-Hant-TW', groups: ['Animals'] } },
  ]);
  const index = opened.as('all');
  const paths = index.pages({ from: 0, limit: 10 }).map(({ path }) => path);
  const cases: [SearchFilter, string[]][] = [
    [{ language: 'en' }, ['en', 'plain', 'shown', 'us']],
    [{ language: 'EN_us' }, ['us']],
    [{ language: 'en-GB' }, []],
    [{ language: 'fr' }, ['fr', 'shown']],
    [{ language: 'pt' }, ['br', 'shown']],
    [{ language: 'pt-br' }, ['br', 'shown']],
    [{ language: 'zh-hant' }, ['han']],
    [{ language: 'z' }, []],
    [{ language: ' ' }, []],
    [{ version: 'V2' }, ['us']],
    [{ tag: 'wild', language: 'en' }, ['us']],
    [{ groups: ['animals', 'none'] }, ['han']],
    [{ groups: [] }, paths.toSorted()],
  ];
  for (const [filter, expected] of cases) {
    const resolve = createLinkResolver({ index, shown: [], filter, baseUrl: null });
    const request = { limit: 20, filter };
    const ways = {
      search: index.search({ ...request, query: 'zebra stripes' }).map(({ path }) => path),
      meaning: index.search({ ...request, query: '?', vector: [1, 0] }).map(({ path }) => path),
      suggest: index.suggest({ ...request, query: 'zeb' }).map(({ path }) => path),
      page: paths.filter((path) => index.page(path, filter) !== null),
      link: paths.filter((path) => resolve(`/${path}`) !== null),
    };
    for (const [way, found] of Object.entries(ways))
      expect([filter, way, [...new Set(found)].sort()]).toEqual([filter, way, expected]);
  }
});

it('counts a page without a language as in the main one, with its region', () => {
  using opened = build('main', [
    { path: 'first', content: 'Home.', order: 1, metadata: { language: 'en-US' } },
    { path: 'plain', content: 'A zebra has stripes.' },
  ]);
  const find = (language: string) =>
    opened
      .as('all')
      .search({ query: 'zebra', limit: 5, filter: { language } })
      .map(({ path }) => path);
  expect([find('en'), find('en-us'), find('fr')]).toEqual([['plain'], ['plain'], []]);
});

it('prefers no region of a language to the language', () => {
  const page = (path: string, language: string) => ({
    path,
    content: 'A zebra has stripes.',
    metadata: { title: 'Zebra', language },
  });
  using opened = build('regions', [
    page('c', 'en'),
    page('b', 'en-US'),
    page('a', 'fr'),
    { ...page('0', 'en'), content: 'Home.', order: 1 },
  ]);
  const hits = opened
    .as('all')
    .search({ query: 'zebra stripes', limit: 5 })
    .filter(({ path }) => path !== '0');
  expect(hits.map(({ path }) => path)).toEqual(['b', 'c', 'a']);
  expect(hits[0]?.score).toBe(hits[1]?.score);
});
