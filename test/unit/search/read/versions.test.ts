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
    (a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.path < b.path ? -1 : 1),
  );
  expect(pages.map(({ path, metadata }) => [path, metadata.version, metadata.language, metadata.groups?.[0]])).toEqual([
    ['b', 'v2', 'en', undefined],
    ['a', 'v2', 'en', undefined],
    ['1.0/a', '1.0', 'en', 'Old'],
    ['1.0/b', '1.0', 'en', 'Old'],
    ['fr/1.0/b', '1.0', 'fr', 'Old'],
    ['0.9/a', '0.9', 'en', undefined],
  ]);
  expect(pages.find(({ path }) => path === '1.0/a')?.metadata.shownIn).toEqual(['fr']);
  expect(pages.find(({ path }) => path === '1.0/b')?.metadata).not.toHaveProperty('shownIn');
});

it('reads Starlight with malformed versions', async () => {
  const config = `import starlight from '@astrojs/starlight'; import v from 'starlight-versions';
    export default { plugins: [v({ versions: [1, { slug: 2 }, {}], current: 'x' })] }`;
  const files = { 'astro.config.mjs': config, 'src/content/versions/2.json': '[', 'src/content/docs/2/a.md': '# A' };
  expect(await versionsOf(files)).toEqual({ '2/a': '2' });
});

const html = (title: string, lang = 'en') =>
  `<!doctype html><html lang="${lang}"><body><nav>Menu</nav><main><h1>${title}</h1></main></body></html>`;
const published = {
  'versions.json':
    '[{"version": "dev", "title": "dev", "aliases": []}, {"version": "1.1", "title": "1.1 (new)", "aliases": ["latest"]}, {"version": "1.0", "title": "1.0", "aliases": []}, {"version": "0.9", "aliases": []}]',
  'index.html':
    '<html><head><meta http-equiv="refresh" content="1; url=latest/"></head><body>Redirecting</body></html>',
  '404.html': html('Not found'),
  'old/index.html': html('Old'),
  'dev/a/index.html': html('A'),
  '1.1/index.html': html('Home'),
  '1.1/404.html': html('Not found'),
  '1.1/a/index.html': html('A'),
  '1.1/b/index.html': html('B'),
  '1.1/flat.html': html('Flat', 'de'),
  '1.0/a/index.html': html('A'),
  'latest/a/index.html': html('A'),
};

it('reads the versions that mike publishes, the default one first and at the address that its alias has', async () => {
  const pages = await readPages(Object.entries(published).map(([path, text]) => fileOf(path, text)));
  const sorted = pages.toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.path < b.path ? -1 : 1));
  expect(sorted.map(({ path, metadata }) => [path, metadata.version, metadata.language])).toEqual([
    ['latest', '1.1', 'en'],
    ['latest/a', '1.1', 'en'],
    ['latest/b', '1.1', 'en'],
    ['latest/flat', '1.1', 'de'],
    ['dev/a', 'dev', 'en'],
    ['1.0/a', '1.0', 'en'],
  ]);
});

it.each([
  ['an alias', 'url=latest/', ['1.0/a', 'latest/a']],
  ['a version', 'url=1.0/', ['1.0/a', '1.1/a']],
  ['nothing that exists', 'url=../x/', ['1.0/a', 'latest/a']],
])('gives the default version of mike the address to which the top leads: %s', async (_name, target, paths) => {
  const files = { ...published, 'index.html': published['index.html'].replace('url=latest/', target) };
  const found = await versionsOf(files);
  expect(
    Object.keys(found)
      .filter((path) => /^(?:1|latest).*\/a$/.test(path))
      .sort(),
  ).toEqual(paths);
});

it.each([
  '[]',
  '["1.1", "1.0"]',
  '{"version": "1.1"}',
  '[{"version": "1.1"}]',
  '[{"version": "3", "aliases": []}]',
  '[',
])('takes other files named versions.json for none of mike: %s', async (text) => {
  expect(Object.keys(await versionsOf({ ...published, 'versions.json': text }))).toContain('old/index');
});
