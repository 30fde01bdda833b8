import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { buildChanged, buildFull, expectSame } from '../build-changed.ts';
import { fileOf } from '../build.ts';

/** Returns the pages that have a position, in their order, each with its groups. */
async function listed(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return pages
    .filter(({ order }) => order !== null)
    .toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.path < b.path ? -1 : 1))
    .map(({ path, metadata }) => [path, ...(metadata.groups ?? [])]);
}

const pages = {
  'content/_index.md': '---\ntitle: Home\n---\n',
  'content/docs/_index.md': '---\ntitle: Docs\nweight: 1\n---\n',
  'content/docs/zebra.md': '---\ntitle: Zebra\nweight: 9\n---\n',
  'content/docs/apple/index.md': '---\ntitle: Apple\n---\n',
  'content/docs/deep/_index.md': '---\ntitle: Deep\n---\n',
  'content/docs/deep/b.md': '---\ntitle: B\nweight: 2\n---\n',
  'content/docs/deep/a.md': '---\ntitle: A\nweight: 1\n---\n',
  'content/docs/deep/inner/_index.md': '---\ntitle: Inner\nweight: 3\n---\n',
  'content/docs/deep/inner/c.md': '---\ntitle: C\n---\n',
  'content/lost.md': '---\ntitle: Lost\nweight: 1\n---\n',
};
const toml = `
[[docs]]
name = 'Animals'
identifier = 'animals'
weight = 20
[[docs]]
name = 'Shown as zebra'
parent = 'animals'
pageRef = '/docs/Zebra.md'
weight = 2
[[docs]]
name = 'Fruit'
weight = 10
url = '/docs/apple/#top'
[[docs]]
name = 'Below'
parent = 'animals'
weight = 1
pageRef = 'docs/deep/_index.md'
[[docs]]
name = 'Elsewhere'
url = 'https://a.example/docs/'
`;
const expected = [
  ['docs/apple'],
  ['docs/deep', 'Animals'],
  ['docs/deep/a', 'Animals', 'Deep'],
  ['docs/deep/b', 'Animals', 'Deep'],
  ['docs/deep/inner', 'Animals', 'Deep'],
  ['docs/deep/inner/c', 'Animals', 'Deep', 'Inner'],
  ['docs/zebra', 'Animals'],
  // in no menu
  ['docs'],
  ['lost'],
];

it.each([
  ['menus.toml', { 'hugo.toml': '', 'config/_default/menus.toml': toml }],
  [
    'a file of the main language',
    { 'config/_default/hugo.toml': '', 'config/_default/menus/menus.en.toml': toml, 'config/_default/menus.toml': '' },
  ],
  ['hugo.toml', { 'hugo.toml': toml.replaceAll('[[docs]]', '[[menus.docs]]') }],
  [
    'hugo.yaml beside a menu with fewer pages',
    {
      'hugo.yaml':
        'menu:\n  main: [{ name: Start, pageRef: / }, { name: Docs, pageRef: /docs }]\n  docs:\n    - { name: Animals, identifier: animals, weight: 20 }\n    - { name: Zebra, parent: animals, pageRef: docs/zebra, weight: 2 }\n    - { name: Apple, pageRef: docs/apple, weight: 10 }\n    - { name: Below, parent: animals, weight: 1, pageRef: docs/deep }\n',
    },
  ],
])('reads the menus of Hugo from %s', async (_name, config) => {
  expect(await listed({ ...config, ...pages })).toEqual(expected);
});

it('reads the menus of Hugo from front matter, in each language', async () => {
  const menu = (name: string, entry: string) => `---\ntitle: ${name}\nmenus: ${entry}\n---\n`;
  const files = {
    'config/_default/hugo.toml': "defaultContentLanguage = 'en'\n",
    'config/_default/languages.toml':
      "[en]\ncontentDir = 'content/en'\n[de]\ncontentDir = 'content/de'\n[[de.menu.docs]]\nname = 'Z'\nweight = 1\nurl = '/de/z/'\n",
    'content/en/b.md': menu('B', '{ docs: { parent: Letters, weight: 1 } }'),
    'content/en/a.md': '+++\ntitle = "A"\n[menu.docs]\nparent = "Letters"\n+++\n',
    'content/en/digits.md': menu('Digits', 'docs'),
    'content/en/one.md': '---\ntitle: One\nweight: 2\nmenu: { docs: { parent: Digits } }\n---\n',
    'content/en/zero.md': '---\ntitle: Zero\nweight: 1\nmenu: { docs: { parent: Digits } }\n---\n',
    'content/en/circle.md': menu('Circle', '{ docs: { parent: Circle } }'),
    'content/en/secret.md': '---\ntitle: Walrus\ngroups: [staff]\nmenu: docs\n---\n',
    'content/en/under.md': menu('Under', '{ docs: { parent: Walrus } }'),
    'content/de/a.md': menu('A', '[docs, other]'),
    'content/de/z.md': '# Z',
  };
  expect(await listed(files)).toEqual([
    ['digits'],
    ['zero', 'Digits'],
    ['one', 'Digits'],
    ['b', 'Letters'],
    ['a', 'Letters'],
    // it names the page for groups itself
    ['under', 'Walrus'],
    ['de/z'],
    ['de/a'],
  ]);
});

it.each([
  'menus: { footer: [{ name: Lost, pageRef: /lost }] }',
  'menus: 1',
  'menus: { docs: 3 }',
  'menus: [[1], {}]',
  'menus: { docs: [{ parent: 1 }, { pageRef: [] }] }',
])('sorts pages by the sections of Hugo if its menus have few of them or are malformed: %s', async (config) => {
  const found = await listed({ 'hugo.yaml': config, ...pages });
  expect(found).toEqual(await listed({ 'hugo.toml': '', ...pages }));
});

it('keeps the menu of Hugo when a page changes, and reads all pages again when the menu does', async () => {
  const section = (parent: string) => `---\ntitle: Docs\nmenu: { main: { parent: ${parent} } }\n---\n`;
  const files = new Map([
    ['hugo.toml', ''],
    ['content/docs/_index.md', section('Guides')],
    ['content/docs/listed.md', '---\ntitle: Listed\nmenu: { main: { parent: Guides } }\n---\n'],
    ['content/docs/other.md', '---\ntitle: Other\n---\n'],
    ['content/docs/last.md', '---\ntitle: Last\n---\n'],
  ]);
  let built = await buildChanged(files, null);
  for (const [path, text, isReadAgain] of [
    ['content/docs/last.md', '---\ntitle: Changed\n---\n', false],
    ['content/docs/last.md', '---\ntitle: Changed\nmenu: { main: { weight: 1 } }\n---\n', true],
    ['content/docs/_index.md', section('Manuals'), true],
  ] as const) {
    files.set(path, text);
    built = await buildChanged(files, built);
    expectSame(built, await buildFull(files));
    expect(built.read.includes('content/docs/other.md')).toBe(isReadAgain);
  }
});
