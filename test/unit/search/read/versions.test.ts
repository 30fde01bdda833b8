import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

async function versionsOf(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map(({ path, metadata }) => [path, metadata.version]));
}

it.each([
  ["version = '1.2'\nrelease = '1.2.3'\n", '1.2'],
  ["version = ''\nrelease = '1.2.3'\n", '1.2.3'],
  ['version = get_version()\n', undefined],
])('gives the pages of Sphinx the version in conf.py: %s', async (config, version) => {
  const pages = { 'index.rst': 'Top\n===\n', 'old.md': '---\nversion: 0.9\n---\n# Old\n' };
  expect(await versionsOf({ 'conf.py': config, ...pages })).toEqual({ index: version, old: '0.9' });
});

it('gives the pages of Hugo the version in the parameters of the site', async () => {
  const pages = { 'content/a.md': '# A', 'content/b.md': '---\nversion: 0.9\n---\n# B' };
  expect(await versionsOf({ 'hugo.toml': "[params]\nversion = 'v2'\n", ...pages })).toEqual({ a: 'v2', b: '0.9' });
  expect(await versionsOf({ 'hugo.toml': '[params]\nversion = []\n', ...pages })).toEqual({ a: undefined, b: '0.9' });
});

it('gives the pages of Starlight the versions of starlight-versions, each with its sidebar', async () => {
  const config = `import starlight from '@astrojs/starlight';
    import starlightVersions from 'starlight-versions';
    export default defineConfig({ integrations: [starlight({
      locales: { root: { lang: 'en' }, fr: {} },
      sidebar: ['b', 'a'],
      plugins: [starlightVersions({ versions: [{ slug: '1.0' }, { slug: '0.9' }, 3], current: { label: 'v2' } })],
    })] });`;
  const files = {
    'astro.config.mjs': config,
    'src/content/versions/1.0.json': '{"sidebar": [{"label": "Old", "items": ["a", "b"]}]}',
    'src/content/docs/a.md': '# A',
    'src/content/docs/b.md': '# B',
    'src/content/docs/1.0/a.md': '---\nslug: 1.0/a\n---\n# A',
    'src/content/docs/1.0/b.md': '---\nslug: 1.0/b\n---\n# B',
    'src/content/docs/fr/1.0/b.md': '---\nslug: fr/1.0/b\n---\n# B',
    'src/content/docs/0.9/a.md': '---\nslug: 0.9/a\n---\n# A',
  };
  const pages = (await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)))).toSorted(
    (one, other) => (one.order ?? Infinity) - (other.order ?? Infinity) || (one.path < other.path ? -1 : 1),
  );
  expect(pages.map(({ path, metadata }) => [path, metadata.version, metadata.language, metadata.groups?.[0]])).toEqual([
    ['b', 'v2', 'en', undefined],
    ['a', 'v2', 'en', undefined],
    ['1.0/a', '1.0', 'en', 'Old'],
    ['1.0/b', '1.0', 'en', 'Old'],
    ['fr/1.0/b', '1.0', 'fr', 'Old'],
    ['0.9/a', '0.9', 'en', undefined],
  ]);
  expect(pages.find(({ path }) => path === '1.0/a')?.shownIn).toEqual(['fr']);
  expect(pages.find(({ path }) => path === '1.0/b')).not.toHaveProperty('shownIn');
});

it('reads Starlight with malformed versions', async () => {
  const config = `import starlight from '@astrojs/starlight'; import v from 'starlight-versions';
    export default { plugins: [v({ versions: [1, { slug: 2 }, {}], current: 'x' })] }`;
  const files = { 'astro.config.mjs': config, 'src/content/versions/2.json': '[', 'src/content/docs/2/a.md': '# A' };
  expect(await versionsOf(files)).toEqual({ '2/a': '2' });
});
