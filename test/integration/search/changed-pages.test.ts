import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { buildChanged, buildFull, expectSame, folder, queries, type Build } from '../../unit/search/build-changed.ts';
import { openWhole } from '../../unit/search/build.ts';
import { fc, propertyRuns } from '../../support/properties.ts';

vi.setConfig({ testTimeout: 300_000 });

const words = fc.constantFrom('heron', 'walrus', 'token', 'createThing', 'retry', 'limit', 'note', 'users');
const front = fc.constantFrom(
  '',
  '---\ntitle: Named\nhidden: true\n---\n',
  '---\ntitle: Named\ntags: [setup]\n---\n',
  '---\nlanguage: de\n---\n',
  '---\nversion: 2\nboost: 3\n---\n',
  '---\nslug: /moved/here\n---\n',
  '---\nopenapi: GET /users\n---\n',
);
const link = fc.constantFrom(
  'a.md',
  './b.md#part',
  '../guides/c',
  'd',
  '../guides/e.mdx',
  '../moved/here.md',
  '/guides/a',
);
const markdown = fc
  .tuple(front, fc.boolean(), fc.array(words, { minLength: 1, maxLength: 6 }), link)
  .map(([head, usesNote, said, target]) => {
    const note = usesNote ? "import Note from '/snippets/note.mdx'\n\n<Note />\n\n" : '';
    return `${head}${note}# ${said[0]} page\n\n${said.join(' ')}\n\n## ${said.at(-1)}\n\nMore ${said.join(', ')}, and [another](${target}).\n`;
  });
const pagePath = fc.constantFrom(
  'index.md',
  'README.md',
  'SUMMARY.md',
  'snippets/note.mdx',
  '_part.md',
  'moved/here.md',
  ...['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => [`guides/${name}.md`, `guides/${name}.mdx`, `de/${name}.mdx`]),
);
const listed = fc.subarray(['index', 'guides/a', 'guides/b', 'de/a', 'de/b', 'GET /users', 'moved/here', 'guides/c']);
const navigation = fc.tuple(listed, fc.boolean(), listed).map(([main, hidden, german]) =>
  JSON.stringify({
    navigation: {
      languages: [
        { language: 'en', groups: [{ group: 'Start', hidden, pages: main }] },
        { language: 'de', version: '2', pages: german },
      ],
    },
  }),
);
const api = words.map((word) =>
  JSON.stringify({
    openapi: '3.1.0',
    paths: { '/users': { get: { summary: 'List users', description: `About ${word}.` } }, [`/${word}`]: { get: {} } },
  }),
);
const summary = fc
  .array(pagePath, { maxLength: 4 })
  .map((paths) => paths.map((path) => `- [A page](${path})`).join('\n'));

/** Its pages have the addresses that their front matter states, and links lead there. */
const docusaurus = "export default { presets: [['classic', { docs: { path: '.', routeBasePath: '/' } }]] };";

const linkedNames = ['a', 'b', 'c', 'd', 'e', 'f'];
const linked = fc.constantFrom(...linkedNames);
const address = fc.constantFrom('', '---\nslug: /first\n---\n', '---\nslug: /second\n---\n');

type Change = (files: Map<string, string>) => void;
const put =
  (path: string, text: string): Change =>
  (files) =>
    void files.set(path, text);
const edit: fc.Arbitrary<Change> = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(pagePath, markdown).map(([path, text]) => put(path, text)) },
  {
    weight: 2,
    arbitrary: pagePath.map(
      (path): Change =>
        (files) =>
          void files.delete(path),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.tuple(pagePath, pagePath, fc.boolean()).map(([from, to, isCopy]): Change => (files) => {
      const text = files.get(from);
      if (text === undefined) return;
      if (!isCopy) files.delete(from);
      files.set(to, text);
    }),
  },
  { weight: 1, arbitrary: navigation.map((text) => put('docs.json', text)) },
  { weight: 1, arbitrary: fc.constant<Change>((files) => void files.delete('docs.json')) },
  { weight: 2, arbitrary: api.map((text) => put('api/users.json', text)) },
  { weight: 2, arbitrary: words.map((word) => put('snippets/note.mdx', `A ${word}.\n`)) },
  { weight: 1, arbitrary: summary.map((text) => put('SUMMARY.md', text)) },
  {
    weight: 3,
    arbitrary: fc.tuple(linked, address).map(([name, head]) => put(`guides/${name}.md`, `${head}# Moved\n`)),
  },
);

/** Enough that a few changes do not cause a full build. No edit touches them, so only addresses change their links. */
const base: [string, string][] = Array.from({ length: 60 }, (_, at) => {
  const link = at < linkedNames.length ? ` See [another](../guides/${linkedNames[at]}.md).` : '';
  return [
    `base/page-${at}.md`,
    `# Page ${at}\n\nA ${queries[at % queries.length]} of ${at}.${link}\n\n## Part\n\nMore of the token.\n`,
  ];
});
const note = (word: string) => `A ${word}.\n`;
const users = (word: string) =>
  JSON.stringify({ openapi: '3.1.0', paths: { '/users': { get: { summary: 'List users', description: word } } } });
/** Pages that include content of other files. */
const joined: [string, string][] = [
  ['guides/users.md', '---\nopenapi: GET /users\n---\n\nUsers.\n'],
  ['api/users.json', users('walrus')],
  ['guides/noted.mdx', "import Note from '/snippets/note.mdx'\n\n# Noted\n\n<Note />\n"],
  ['snippets/note.mdx', note('heron')],
];

describe('an index built from the changed files', () => {
  it.each([
    ['of its own', []],
    ['of Docusaurus', [['docusaurus.config.js', docusaurus] as const]],
  ])(
    'gives the same answers as one from all files with a layout %s, whatever was edited, removed or moved',
    { tags: 'slow' },
    async (_layout, config) => {
      let savedReads = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 6 }),
          async (rounds) => {
            const files = new Map([...base, ...joined, ...config]);
            let previous = await buildChanged(files, null);
            for (const changes of rounds) {
              for (const change of changes) change(files);
              previous = await buildChanged(files, previous);
              savedReads += files.size - previous.read.length;
              expectSame(previous, await buildFull(files));
            }
          },
        ),
        { numRuns: propertyRuns(15) },
      );
      expect(savedReads).toBeGreaterThan(100);
    },
  );

  it('leads links to the new address of a page', async () => {
    const files = new Map([
      ...base,
      ['docusaurus.config.js', docusaurus],
      ['a.md', '# A\n\nSee [b](b.md#use) and [c](./c).\n'],
      ['b.md', '---\nslug: /first\n---\n# B\n'],
    ]);
    const linksOf = async (build: Build) => {
      expectSame(build, await buildFull(files));
      using index = openWhole(build.file);
      return index.page('a')?.content;
    };
    const first = await buildChanged(files, null);
    expect(await linksOf(first)).toContain('See [b](/first#use) and [c](/c).');
    files.set('b.md', '---\nslug: /second\n---\n# B\n').set('c.md', '---\nid: third\nhidden: true\n---\n# C\n');
    const second = await buildChanged(files, first);
    expect(await linksOf(second)).toContain('See [b](/second#use) and [c](/third).');
    files.delete('b.md');
    const third = await buildChanged(files, second);
    expect(await linksOf(third)).toContain('See [b](/b#use) and [c](/third).');
    files.set('base/page-7.md', '# Seven\n');
    expect((await buildChanged(files, third)).read).toEqual(['base/page-7.md', 'docusaurus.config.js', 'c.md']);
  });

  const files = new Map([...base, ...joined, ['docs.json', '{"navigation":{"pages":["base/page-1","base/page-2"]}}']]);
  const always = [...joined.map(([path]) => path), 'docs.json'];
  const change = (path: string, text: string | null) => {
    const changed = new Map(files);
    if (text === null) changed.delete(path);
    else changed.set(path, text);
    return changed;
  };

  it('reads one file for one changed page, plus those that share parts with it', async () => {
    const first = await buildChanged(files, null);
    expect(first.read).toHaveLength(files.size);
    const second = await buildChanged(change('base/page-7.md', '# Seven\n\nA zebra.\n'), first);
    expect(second.read).toEqual(['base/page-7.md', ...always]);
    expect(second.built).toMatchObject({ changedPages: 1, pages: 62 });
    const third = await buildChanged(change('base/page-7.md', null), second);
    expect(third.read).toEqual(always);
    expect(third.built).toMatchObject({ changedPages: 1, pages: 61 });
    const fourth = await buildChanged(files, third);
    expect(fourth.read).toEqual(['base/page-7.md', ...always]);
    expectSame(fourth, await buildFull(files));
  });

  it.each([
    ['an OpenAPI file', 'api/users.json', users('quokka'), 'guides/users'],
    ['a snippet', 'snippets/note.mdx', note('quokka'), 'guides/noted'],
  ])('brings %s to the page that shows it', async (_kind, path, text, page) => {
    const second = await buildChanged(change(path, text), await buildChanged(files, null));
    expect(second.read).toEqual(always);
    using index = openWhole(second.file);
    expect(index.search({ query: 'quokka', limit: 5 }).map((hit) => hit.path)).toEqual([page]);
  });

  it('shows the new title of a page on the pages that refer to it', async () => {
    const files = new Map([
      ['conf.py', ''],
      ['index.rst', 'Top\n===\n\nText.\n'],
      ['a.rst', 'A page\n======\n\nSee :ref:`b` and :doc:`c`.\n'],
      ['b.rst', '.. _b:\n\nHeron\n=====\n'],
      ['c.rst', 'Walrus\n======\n'],
    ]);
    const before = await buildChanged(files, null);
    files.set('b.rst', '.. _b:\n\nToken\n=====\n').set('c.rst', 'Otter\n=====\n');
    const after = await buildChanged(files, before);
    expectSame(after, await buildFull(files));
    using index = openWhole(after.file);
    expect(index.page('a')?.content).toContain('See [Token](/b#b) and [Otter](/c).');
  });

  it('re-reads a file whose page is unchanged only once', async () => {
    const first = await buildChanged(files, null);
    const touched = change('base/page-7.md', `${files.get('base/page-7.md')}<!-- not shown -->`);
    const second = await buildChanged(touched, first);
    expect((await buildChanged(touched, second)).read).not.toContain('base/page-7.md');
  });

  it('reads all files if the navigation changed, and none again if something else in its file did', async () => {
    const first = await buildChanged(files, null);
    const placed = change('docs.json', '{"navigation":{"pages":["base/page-2","base/page-1"]}}');
    const second = await buildChanged(placed, first);
    expect(second.read).toHaveLength(files.size);
    expectSame(second, await buildFull(placed));
    const renamed = change('docs.json', '{"name":"Docs","navigation":{"pages":["base/page-1","base/page-2"]}}');
    expect((await buildChanged(renamed, first)).read).toEqual(always);
  });

  it('reads all files if the previous index is damaged', async () => {
    const first = await buildChanged(files, null);
    expect((await buildChanged(files, { ...first, file: join(folder, 'missing.db') })).read).toHaveLength(files.size);
  });
});
