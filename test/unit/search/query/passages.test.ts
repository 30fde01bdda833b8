import { expect, it } from 'vitest';
import { weakScoreOf } from '../../../../search/query/site-index.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import { buildPage, fileOf, indexOf } from '../build.ts';
import { propertyRuns } from '../../../support/properties.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const folder = temporaryDirectory();

it('finds an identifier whose underscores Markdown escapes, and shows it without escapes', () => {
  using escaped = indexOf(folder, [
    buildPage({ path: 'other', content: 'Max retries of a user.\n' }),
    buildPage({ path: 'keys', content: '# Keys\n\n## max\\_user\\_retries\n\nSet max\\_user\\_retries to 3.\n' }),
  ]);
  expect(escaped.search({ query: 'max_user_retries', limit: 1 })[0]).toMatchObject({
    path: 'keys',
    headings: ['Keys', 'max_user_retries'],
    anchor: 'max_user_retries',
  });
});

it('returns each part of a long table with its head', () => {
  const rows = Array.from({ length: 200 }, (_, at) => `| key${at} | ${at} |`).join('\n');
  using tables = indexOf(folder, [buildPage({ content: `| Key | Default |\n| --- | --- |\n${rows}\n` })]);
  expect(tables.search({ query: 'key199 default', limit: 1 })[0]?.content).toMatch(
    /^\| Key \| Default \|\n\| --- \| --- \|\n\| key\d+ /,
  );
});

it('needs more evidence from a larger index', () => {
  expect(weakScoreOf(1_000)).toBeGreaterThan(weakScoreOf(100));
  expect(weakScoreOf(100_000)).toBeGreaterThan(weakScoreOf(10_000));
  expect(weakScoreOf(1e9)).toBeLessThan(0.6);
});

it('reads a page named _index as that of its folder', async () => {
  const pages = await readPages(
    Object.entries({ '_index.md': 'a', 'guides/_index.md': 'b', 'guides/_part.md': 'c' }).map(([path, text]) =>
      fileOf(path, text),
    ),
  );
  expect(pages.map(({ path }) => path)).toEqual(['index', 'guides/index']);
});

it('finds the same passages by lists of terms that it keeps as by a full-text query', () => {
  const words = ['deploy', 'server', 'token', 'cache', 'retry', 'queue', 'limit'];
  // each page lacks some of the words, so that questions match all, all but one, or few of their terms
  const pages = Array.from({ length: 400 }, (_, at) =>
    buildPage({ path: `p${at}`, content: words.filter((_word, bit) => (at * 37) & (1 << bit)).join(' ') || 'none' }),
  );
  using index = indexOf(folder, pages);
  const everything = { language: 'en' };
  const subsets = (1 << words.length) - 1;
  for (let picked = 1; picked <= subsets; picked += Math.floor(subsets / propertyRuns(subsets))) {
    const query = words.filter((_word, bit) => picked & (1 << bit)).join(' ');
    // with a filter, the full-text index answers alone
    const asked = { query, limit: 30 };
    expect(index.search(asked), query).toEqual(index.search({ ...asked, filter: everything }));
  }
});
