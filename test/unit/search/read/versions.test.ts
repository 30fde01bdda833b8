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
