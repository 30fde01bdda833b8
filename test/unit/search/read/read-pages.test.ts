import { describe, expect, it, vi } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';
import { anyCharacter, fc, propertyRuns } from '../../../support/properties.ts';

vi.setConfig({ testTimeout: 60_000 });

const read = (files: Record<string, string>) =>
  readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));

describe('a Markdown page', () => {
  it('uses its front matter', async () => {
    const [page] = await read({
      'guides/install.md':
        '---\ntitle: Install it\ndescription: How\nversion: 2.0\nlanguage: en\ntags: [setup, cli]\ngroups: staff\nboost: 3\n---\n\nText.\n',
    });
    expect(page).toMatchObject({
      path: 'guides/install',
      boost: 3,
      isHidden: false,
      metadata: {
        title: 'Install it',
        description: 'How',
        version: '2',
        language: 'en',
        tags: ['setup', 'cli'],
        groups: ['staff'],
      },
    });
    expect(page?.content.trim()).toBe('Text.');
  });

  it('is named after its first heading, else after its file', async () => {
    const pages = await read({ 'a.md': 'Text\n\n## The `first` one\n', 'deep/getting-started.md': 'no heading' });
    expect(pages.map(({ metadata }) => metadata.title)).toEqual(['The first one', 'Getting started']);
  });

  it.each([['hidden: true'], ['searchable: false'], ['draft: true']])('is hidden by %s', async (line) => {
    expect((await read({ 'a.md': `---\n${line}\n---\ntext` }))[0]?.isHidden).toBe(true);
  });

  it.each([
    ['deprecated: true', 'x'],
    ['tag: Deprecated', 'x'],
    ['title: A', 'This endpoint is deprecated. Use b.'],
  ])('is ranked lower when it says %j, %j', async (line, text) => {
    expect((await read({ 'a.md': `---\n${line}\n---\n${text}` }))[0]?.boost).toBeLessThan(1);
  });

  it('is ranked lower if the navigation omits it', async () => {
    const pages = await read({ 'docs.json': '{"navigation":{"pages":["a"]}}', 'a.md': 'a', 'b.md': 'b' });
    expect(pages.map(({ boost }) => boost)).toEqual([1, 0.5]);
  });

  it('keeps damaged front matter as text', async () => {
    const [page] = await read({ 'a.md': '---\ntitle: [unclosed\n: : :\n---\n\n# Heading\n' });
    expect(page?.content).toContain('title: [unclosed');
    expect(page?.metadata.title).toBe('Heading');
  });

  it('moves to its slug, but never out of the site', async () => {
    const pages = await read({
      'docs/a.md': '---\nslug: /start\n---\nx',
      'docs/b.md': '---\nslug: ../../../etc\n---\nx',
    });
    expect(pages.map(({ path }) => path)).toEqual(['start', 'docs/b']);
  });

  it('loses its comments outside code', async () => {
    expect((await read({ 'a.md': 'a <!-- no\nno --> b\n\n```\n<!-- yes -->\n```' }))[0]?.content).toBe(
      'a  b\n\n```\n<!-- yes -->\n```',
    );
  });
});

describe('an MDX page', () => {
  const content = async (text: string) => (await read({ 'a.mdx': text }))[0]?.content ?? '';

  it('loses imports, exports and tags, and keeps their text and titles', async () => {
    const text = await content(
      "import { Card } from './card.jsx';\n\nexport const x = {\n  a: 1,\n\n  b: 2,\n};\n\n# Top\n\n<Card title=\"Quick start\" href={() => '>'}>\n  Begin **here**.\n</Card>\n{/* gone */}\n",
    );
    expect(text).not.toMatch(/import|export|<Card|href|gone|b: 2/);
    expect(text).toContain('Quick start');
    expect(text).toContain('Begin **here**.');
  });

  it('keeps code as it is', async () => {
    const code = '```jsx\nimport x from \'y\';\n<Card title="t" />\n```';
    expect(await content(`Use \`<Card>\`:\n\n${code}\n`)).toBe(`Use \`<Card>\`:\n\n${code}\n`);
  });

  it('shows the name and type of a parameter', async () => {
    expect(await content('<ParamField path="limit" type="number" required>\nHow many.\n</ParamField>')).toContain(
      '`limit` (number)',
    );
  });

  it('shows the content of an imported snippet', async () => {
    const pages = await read({
      'docs.json': '{"navigation":{"pages":["a"]}}',
      'a.mdx': "import Note from '/snippets/note.mdx';\n\n<Note />\n",
      'snippets/note.mdx': 'Mind the gap.',
    });
    expect(pages.map(({ path }) => path)).toEqual(['a']);
    expect(pages[0]?.content).toContain('Mind the gap.');
  });
});

describe('the navigation', () => {
  it('provides order, language, version, groups and hidden pages', async () => {
    const navigation = {
      languages: [
        { language: 'fr', groups: [{ group: 'Début', pages: ['fr/a'] }] },
        {
          language: 'en',
          default: true,
          versions: [
            {
              version: 'v2',
              groups: [
                { group: 'Start', boost: 2, pages: ['b', { group: 'More', pages: ['a'] }] },
                { group: 'Old', hidden: true, pages: ['c'] },
              ],
            },
          ],
        },
      ],
    };
    const pages = await read({
      'docs.json': JSON.stringify({ navigation }),
      'a.md': 'a',
      'b.md': 'b',
      'c.md': 'c',
      'fr/a.md': 'a',
      'fr/z.md': 'z',
      'loose.md': 'l',
    });
    const byPath = Object.fromEntries(pages.map((page) => [page.path, page]));
    expect(byPath.b).toMatchObject({
      order: 0,
      boost: 2,
      metadata: { language: 'en', version: 'v2', groups: ['Start'] },
    });
    expect(byPath.a).toMatchObject({ order: 1, metadata: { groups: ['Start', 'More'] } });
    expect(byPath.c).toMatchObject({ isHidden: true });
    expect(byPath['fr/a']).toMatchObject({ order: 3, metadata: { language: 'fr' } });
    expect(byPath['fr/z']).toMatchObject({ order: null, metadata: { language: 'fr' } });
    expect(byPath.loose).toMatchObject({ order: null, isHidden: false, metadata: { language: 'en' } });
  });

  it.each([
    ['mint.json', '{"navigation":[{"group":"G","pages":["b","a"]}]}'],
    ['_sidebar.md', '* [B](b.md)\n* [A](/a)'],
    ['SUMMARY.md', '- [B](./b.md)\n- [A](a.md)'],
    ['mkdocs.yml', 'docs_dir: .\nnav:\n  - B: b.md\n  - Part:\n      - A: a.md\n'],
  ])('is read from %s', async (name, text) => {
    const pages = await read({ [name]: text, 'a.md': 'a', 'b.md': 'b' });
    expect(Object.fromEntries(pages.map(({ path, order }) => [path, order]))).toEqual({ a: 1, b: 0 });
  });

  it('survives a damaged or self-referential file', async () => {
    const files = {
      'docs.json': '{"navigation":{"$ref":"./nav.json"}}',
      'nav.json': '{"$ref":"nav.json","pages":["a"]}',
      'mint.json': '{',
      'a.md': 'a',
    };
    expect((await read(files))[0]).toMatchObject({ path: 'a', order: 0 });
  });
});

describe('an OpenAPI file', () => {
  const api = `
openapi: 3.1.0
paths:
  /users/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: string }, description: The user. }]
    get:
      operationId: getUser
      summary: Get a user
      tags: [Users]
      responses:
        '200': { description: Found, content: { application/json: { schema: { $ref: '#/components/schemas/User' } } } }
    delete: { operationId: deleteUser, x-hidden: true, responses: {} }
components:
  schemas:
    User: { type: object, required: [name], properties: { name: { type: string, description: Full name }, friends: { type: array, items: { $ref: '#/components/schemas/User' } } } }
`;

  it('becomes a page per operation', async () => {
    const pages = await read({ 'api.yaml': api });
    expect(pages.map(({ path, isHidden }) => [path, isHidden])).toEqual([
      ['api/get-a-user', false],
      ['api/deleteuser', true],
    ]);
    expect(pages[0]?.metadata).toMatchObject({ title: 'Get a user', tags: ['Users'] });
    for (const text of [
      '`GET /users/{id}`',
      '`getUser`',
      '- `id` (path, string, required): The user.',
      '### 200',
      '- `name` (string, required): Full name',
    ]) {
      expect(pages[0]?.content).toContain(text);
    }
  });

  it('is included in the page that names its operation', async () => {
    const pages = await read({
      'api.yaml': api,
      'users/get.mdx': '---\nopenapi: "GET /users/{id}"\n---\nMore words.\n',
    });
    expect(pages.filter(({ isHidden }) => !isHidden).map(({ path, metadata }) => [path, metadata.title])).toEqual([
      ['users/get', 'Get a user'],
    ]);
    expect(pages[0]?.content).toMatch(/GET \/users[^]*More words\.[^]*## Parameters/);
  });
});

describe('any file', () => {
  it('is read without an exception', async () => {
    const bits = fc.constantFrom(
      '<',
      '>',
      '{',
      '}',
      '"',
      '`',
      '```\n',
      '---\n',
      'import ',
      'export ',
      '<A b="',
      '/>',
      '<!--',
      '{/*',
      '\n\n',
      '# ',
      '](',
      'x: [',
      '- ',
      '\u0000',
    );
    const text = fc
      .array(fc.oneof(bits, fc.string({ unit: anyCharacter, maxLength: 10 })), { maxLength: 80 })
      .map((parts) => parts.join(''));
    await fc.assert(
      fc.asyncProperty(
        text,
        fc.constantFrom(
          'a.md',
          'a.mdx',
          'a.yaml',
          'docs.json',
          'mint.json',
          'mkdocs.yml',
          '_sidebar.md',
          'openapi.json',
          'a.html',
          'a.adoc',
          'a.rst',
          'asyncapi.json',
        ),
        async (source, path) => {
          await readPages([fileOf(path, source), fileOf(`b/${path}`, `openapi: 3\n${source}`)]);
        },
      ),
      { numRuns: propertyRuns(150) },
    );
  });

  it.each([
    '<',
    '{',
    '[',
    '](',
    '`',
    '```\n',
    '<a',
    '<A b="',
    '<!--',
    '{/*',
    '# ',
    '\n',
    '---\n',
    '<A b={`',
    'import {\n',
    '![](',
    '~',
    '-',
    '/ ',
  ])('of nothing but %j takes good time', async (bit) => {
    const source = bit.repeat(Math.ceil(300_000 / bit.length));
    const [page] = await readPages([fileOf('a.mdx', source)]);
    expect(page?.path).toBe('a');
  });
});
