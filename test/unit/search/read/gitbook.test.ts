import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

/** Returns the pages in their order, each with its language or version and its groups. */
async function listed(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return pages
    .toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.path < b.path ? -1 : 1))
    .map(({ path, metadata: { language, version, groups = [] } }) => [path, language ?? version, ...groups]);
}

it('reads the spaces of GitBook in one repository, each with its configuration', async () => {
  const files = {
    'README.md': '# Repository',
    'packages/app/.gitbook.yaml': 'root: ./docs/\nstructure: { summary: contents.md, readme: intro.md }\n',
    'packages/app/docs/contents.md': '* [Intro](intro.md)\n\n## Guides\n\n* [B](b.md)\n',
    'packages/app/docs/intro.md': '# Intro',
    'packages/app/docs/b.md': '# B\n\n<code class="expression">space.vars.name</code>, [Intro](intro.md)',
    'packages/app/docs/.gitbook/vars.yaml': 'name: Lamp\n',
    'packages/app/docs/loose.md': '# Loose',
    'packages/api/.gitbook.yaml': '',
    'packages/api/SUMMARY.md': '* [A](a/README.md)\n',
    'packages/api/a/README.md': '# A',
    'packages/plain/SUMMARY.md': '* [C](c.md)\n',
    'packages/plain/c.md': '# C',
  };
  expect(await listed(files)).toEqual([
    ['packages/api/a', undefined, 'api'],
    ['packages/app', undefined, 'app'],
    ['packages/app/b', undefined, 'app', 'Guides'],
    ['packages/plain/c', undefined, 'plain'],
    ['index', undefined],
    ['packages/app/loose', undefined, 'app'],
  ]);
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  expect(pages.find(({ path }) => path === 'packages/app/b')?.content).toContain('Lamp, [Intro](/packages/app)');
});

it('reads the variants of GitBook whose folders are named like languages and versions', async () => {
  const space = (folder: string) => ({
    [`${folder}/.gitbook.yaml`]: '',
    [`${folder}/SUMMARY.md`]: '* [A](a.md)\n',
    [`${folder}/a.md`]: '# A',
  });
  expect(await listed({ ...space('de'), ...space('en'), ...space('zh-Hant') })).toEqual([
    ['en/a', 'en'],
    ['de/a', 'de'],
    ['zh-Hant/a', 'zh-Hant'],
  ]);
  expect(await listed({ ...space('v2'), ...space('v10.x'), ...space('1.5'), ...space('go') })).toEqual([
    ['go/a', undefined, 'go'],
    ['v10.x/a', 'v10.x'],
    ['v2/a', 'v2'],
    ['1.5/a', '1.5'],
  ]);
});

it('reads a variant of GitBook below the main one', async () => {
  const main = { 'README.md': '# Home', 'SUMMARY.md': '* [Home](README.md)\n* [A](a.md)\n', 'a.md': '# A' };
  const old = { 'v1/.gitbook.yaml': 'root: docs\n', 'v1/docs/SUMMARY.md': '* [A](a.md)\n', 'v1/docs/a.md': '# A' };
  expect(await listed({ '.gitbook.yaml': '', ...main, ...old })).toEqual([
    ['index', undefined],
    ['a', undefined],
    ['v1/a', 'v1'],
  ]);
});

it('takes one folder with a configuration of GitBook for no site of it', async () => {
  const files = { 'docs/.gitbook.yaml': '', 'docs/SUMMARY.md': '* [A](README.md)\n', 'docs/README.md': '# A' };
  expect(await listed(files)).toEqual([['docs/README', undefined]]);
});

it.each(['[', 'root: [1]', 'structure: 3', 'root: ../../..'])(
  'reads GitBook with a malformed configuration: %s',
  async (config) => {
    const files = { '.gitbook.yaml': config, 'v1/.gitbook.yaml': config, 'a.md': '# A', 'v1/b.md': '# B' };
    expect((await listed(files)).map(([path]) => path)).toContain('a');
  },
);
