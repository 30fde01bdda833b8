import { describe, expect, it } from 'vitest';
import { exportedValueOf, scriptValueOf } from '../../../../search/read/layouts/script-values.ts';
import { readPages } from '../../../../search/read/read-pages.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import { fileOf, indexOf } from '../build.ts';

const config = `
import starlight from '@astrojs/starlight';
const other = 1;
export const locales = {
  root: { label: 'English', lang: 'en' },
  'pt-br': { label: 'Português', lang: 'pt-BR' }, // Brazil
  fr: { label: 'Français' },
} as const satisfies Config['locales'];
export default defineConfig({
  integrations: [
    starlight({
      title: \`Lamps\`,
      locales,
      sidebar: [
        { label: 'Start', translations: { fr: 'Début', 'pt-BR': 'Início' }, items: ['zebra', { slug: 'apple' }] },
        { label: 'Guides', items: [{ label: 'More', collapsed: true, autogenerate: { directory: 'guides' } }] },
        { label: 'Site', link: 'https://a.example' },
        computed(['no']),
        { label: 'Home', link: '/' },
      ],
    }),
  ],
});`;

const pages = {
  'astro.config.mjs': config,
  'src/content/docs/index.mdx': '---\ntitle: Home\n---\n',
  'src/content/docs/zebra.md': '---\ntitle: Zebra\n---\n',
  'src/content/docs/apple.md': '---\ntitle: Apple\n---\n',
  'src/content/docs/lost.md': '---\ntitle: Lost\n---\n',
  'src/content/docs/guides/b.md': '---\ntitle: B\n---\n',
  'src/content/docs/guides/c.md': '---\ntitle: C\nsidebar: { order: 1 }\n---\n',
  'src/content/docs/guides/deep/a.md': '---\ntitle: A\n---\n',
  'src/content/docs/fr/apple.mdx': '---\ntitle: Pomme\n---\n',
  'src/content/docs/fr/guides/b.md': '---\ntitle: B\n---\n',
  'src/content/docs/go/a.md': '---\ntitle: Go\n---\n',
};

async function read(files: Record<string, string>) {
  return readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
}

describe('a site of Starlight', () => {
  it('has no language for locales that are computed', async () => {
    const computed = config.replace("fr: { label: 'Français' },", "fr: { label: 'Français' }, ...more(),");
    const apple = (await read({ ...pages, 'astro.config.mjs': computed })).find(({ path }) => path === 'apple');
    expect(apple?.metadata.shownIn).toEqual(['pt-br']);
  });

  it('has the order and the groups of its sidebar, in each language', async () => {
    const ordered = (await read(pages))
      .filter(({ order }) => order !== null)
      .toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.path < b.path ? -1 : 1));
    expect(ordered.map(({ path, metadata }) => [path, ...(metadata.groups ?? [])])).toEqual([
      ['zebra', 'Start'],
      ['apple', 'Start'],
      ['guides/c', 'Guides', 'More'],
      ['guides/b', 'Guides', 'More'],
      ['guides/deep/a', 'Guides', 'More', 'deep'],
      ['index'],
      ['fr/apple', 'Début'],
      ['fr/guides/b', 'Guides', 'More'],
    ]);
  });

  it('shows pages in the languages into which they are not translated', async () => {
    const shown = Object.fromEntries((await read(pages)).map((page) => [page.path, page]));
    expect(shown.zebra).toMatchObject({ metadata: { language: 'en', shownIn: ['pt-br', 'fr'] } });
    expect(shown.apple?.metadata.shownIn).toEqual(['pt-br']);
    expect(shown['fr/apple']?.metadata).not.toHaveProperty('shownIn');
    // "go" is no language of this site
    expect(shown['go/a']?.metadata.language).toBe('en');
  });

  it('finds pages by a language into which they are not translated', async () => {
    const glowing = Object.entries(pages).map(([path, text]) => [
      path,
      path.endsWith('.md') ? `${text}It glows.` : text,
    ]);
    using index = indexOf(temporaryDirectory(), await read(Object.fromEntries(glowing)));
    const found = (language: string) =>
      index.search({ query: 'zebra apple', limit: 20, filter: { language } }).map(({ path }) => path);
    expect(found('fr')).toContain('zebra');
    expect(found('fr')).not.toContain('apple');
    expect(found('pt-br')).toEqual(expect.arrayContaining(['apple', 'zebra']));
    expect(found('pt-br')).not.toContain('fr/guides/b');
  });

  it('keeps its pages in their order if its sidebar is computed', async () => {
    const computed = { ...pages, 'astro.config.mjs': config.replace('sidebar: [', 'sidebar: make([') + '])' };
    const byPath = Object.fromEntries((await read(computed)).map((page) => [page.path, page]));
    expect(byPath['guides/c']?.order).toBeTypeOf('number');
    expect(byPath.zebra?.order).toBeNull();
  });
});

it.each([
  ['{ a: [1, "two", `three`, true, null, { b: -4.5 }] }', [1, 'two', 'three', true, null, { b: -4.5 }]],
  ['const b = ["x"]; const a: string[] = [...b, "y", ...c(), b]', ['x', 'y', undefined, ['x']]],
  ['const b = { x: 1, y: 2 }; const a = { y: 3, ...b, x: 4, ...c() }', { x: 4, y: 2 }],
  [
    '({ a: { "it\'s": 1, d() { return 2 }, [e]: 3, ...f, g: h(1, 2), i: j ? 1 : 2, k: 5 } })',
    { "it's": 1, g: undefined, i: undefined, k: 5 },
  ],
  ['const a = [1 /* ] */, // ]\n 2]\nexport default a', [1, 2]],
  ['const a = a', undefined],
  ['const a = f(); function f(): string[] { return ["x"] }', ['x']],
  ['const a = f(); function f() { log(); return ["x"] }', undefined],
  ['const a = f(); function f() { return ["x"].map(g) }', undefined],
  ['const a = f(); function f() { return f() }', undefined],
  ['const a = [1].map(f)', undefined],
  ['const a = `x${b}`', undefined],
  ['x: 1', undefined],
  ['const a = constructor', undefined],
  ['const a = $b; const $b = 1', 1],
  ['const a = { "b(", c: 1 }', { c: 1 }],
])('reads the literal value of a setting from %s', (text, value) => {
  expect(scriptValueOf(text, 'a')).toEqual(value);
});

it('reads a list that names others many times only in part', () => {
  const lists = Array.from({ length: 15 }, (_, at) => `const a${at} = [${`a${at + 1}, `.repeat(100)}];`);
  const value = scriptValueOf(`${lists.join('\n')}\nconst a15 = ['x'];`, 'a0');
  expect(JSON.stringify(value).length).toBeLessThan(1_000_000);
});

it.each([
  '[',
  '{',
  '{a:',
  '[a,',
  '/*',
  '/*/',
  'a:',
  '...',
  '`',
  '"a',
  '(',
  '[)',
  'a ',
  'const a=b;',
  '${',
  'function a(){return a()} ',
  'a:(',
  '\nexport default (',
  '{"(?:(?:a|a)+)+b",}; const aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! ',
])('reads a program of nothing but %j in good time', (bit) => {
  const before = process.cpuUsage();
  scriptValueOf(`const a = ${bit.repeat(100_000 / bit.length)}`, 'a');
  exportedValueOf(bit.repeat(100_000 / bit.length));
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(2_000);
});
