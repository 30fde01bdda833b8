import { expect, it } from 'vitest';
import { ordersPerSource } from '../../../../search/read/layouts/config-file.ts';
import { readSources } from '../../../../search/read/read-sources.ts';
import { fileOf } from '../build.ts';

async function read(...parts: { prefix: string; weight?: number; files: Record<string, string> }[]) {
  const sources = parts.map(({ prefix, weight = 1, files }) => ({
    prefix,
    weight,
    files: Object.entries(files).map(([path, text]) => fileOf(path, text)),
  }));
  const { pages, found, navigation } = await readSources(sources, null);
  const full = pages.flatMap((page) => ('content' in page ? [page] : []));
  return { byPath: Object.fromEntries(full.map((page) => [page.path, page])), found, navigation };
}

it('places the pages of a source below its prefix, with its weight, its order and its links', async () => {
  const { byPath, found } = await read(
    { prefix: '', files: { 'SUMMARY.md': '[b](b.md)', 'b.md': '# B', 'blog/lost.md': '# Lost', 'bloggers.md': '# C' } },
    {
      prefix: 'blog',
      weight: 20,
      files: { 'SUMMARY.md': '[a](a.md)', 'a.md': '[a](/x), [b](/blog/y), [c](//z), [d](w), `](/`', 'index.md': '# I' },
    },
  );
  expect(Object.keys(byPath)).toEqual(['b', 'bloggers', 'blog/a', 'blog/index']);
  expect(found.map(({ pages }) => pages)).toEqual([2, 2]);
  expect(byPath['b']).toMatchObject({ order: 0, boost: 1 });
  expect(byPath['blog/a']).toMatchObject({ order: ordersPerSource, boost: 10 });
  expect(byPath['blog/a']?.content).toContain('[a](/blog/x), [b](/blog/y), [c](//z), [d](w)');
});

it('changes no links in the code of a page', async () => {
  const code = ['```md', '[Install](/install)', '```', '', 'Call `f[0](/re/)`, ``a ` b[1](/x)`` or ` alone.'].join(
    '\n',
  );
  const links = 'See [`run`](/run), `x` and [b](/b).';
  const { byPath } = await read({ prefix: 'blog', files: { 'a.md': `# A\n\n${code}\n\n${links}\n` } });
  expect(byPath['blog/a']?.content).toBe(`# A\n\n${code}\n\nSee [\`run\`](/blog/run), \`x\` and [b](/blog/b).\n`);
});

it('gives a nested prefix its own pages, and another weight another fingerprint', async () => {
  const files = { 'a.md': '# A', 'v1/a.md': '# Old' };
  const parts = [
    { prefix: 'docs', files },
    { prefix: 'docs/v1', files: { 'a.md': '# New' } },
  ];
  const { byPath, navigation } = await read(...parts);
  expect(Object.values(byPath).map(({ path, metadata }) => [path, metadata.title])).toEqual([
    ['docs/a', 'A'],
    ['docs/v1/a', 'New'],
  ]);
  expect((await read(...parts.map((part) => ({ ...part, weight: 2 })))).navigation).not.toBe(navigation);
});

it('sorts pages by the positions and weights of their folders, translations last', async () => {
  const docusaurus = {
    'docusaurus.config.js': 'x',
    'docs/2-use/1-run.md': '# Run',
    'docs/2-use/2-stop.md': '# Stop',
    'docs/1-start/3-more.md': '# More',
    'docs/1-start/index.md': '# Start',
    'i18n/de/docusaurus-plugin-content-docs/current/1-start/3-more.md': '# Mehr',
  };
  const hugo = {
    'hugo.toml': '[languages.en]\n[languages.de]\n',
    'content/en/docs/z.md': '---\nweight: 5\n---\n# Z',
    'content/en/docs/a.md': '---\nweight: 20\n---\n# A',
    'content/de/docs/z.md': '---\nweight: 5\n---\n# Z',
  };
  const { byPath } = await read(
    { prefix: '', files: docusaurus },
    ...[...Array(10).keys()].map((at) => ({ prefix: `h${at}`, files: hugo })),
  );
  const ordered = Object.values(byPath).toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity));
  expect(ordered.map(({ path }) => path).filter((path) => !/^h[0-8]/.test(path))).toEqual([
    'docs/start',
    'docs/start/more',
    'docs/use/run',
    'docs/use/stop',
    'de/docs/start/more',
    'h9/docs/z',
    'h9/docs/a',
    'h9/de/docs/z',
  ]);
  expect(ordered.every(({ order }) => Number.isSafeInteger(order))).toBe(true);
});
