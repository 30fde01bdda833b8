import { expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

/** Features that real documentation repositories use and the manuals of their tools do not mention. */
async function read(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map((page) => [page.path, page]));
}

it('reads the sidebars of the additional configurations of VitePress', async () => {
  const additional = (base: string, group: string) =>
    `import { defineAdditionalConfig } from 'vitepress'\nexport default defineAdditionalConfig({\n  themeConfig: { sidebar: { '${base}': { base: '${base}', items: guide() } } },\n})\nfunction guide(): DefaultTheme.SidebarItem[] {\n  return [{ text: '${group}', items: [{ text: 'B', link: 'b' }, { text: 'A', link: 'a' }] }]\n}\n`;
  const pages = await read({
    'docs/.vitepress/config.ts': "export default defineConfig({ rewrites: { 'en/:rest*': ':rest*' } })",
    'docs/config.ts': additional('/guide/', 'Guide'),
    'docs/es/config.ts': additional('/es/guide/', 'Guía'),
    'docs/es/lib/config.ts': 'export default defineConfig({ sidebar: [{ link: "/x" }] })',
    'docs/en/guide/a.md': '# A <Badge type="warning" text="beta" />',
    'docs/en/guide/b.md': '# B',
    'docs/es/guide/a.md': '# A',
    'docs/es/guide/b.md': '# B',
  });
  expect(pages['guide/a']?.metadata).toMatchObject({ title: 'A beta', groups: ['Guide'] });
  expect(pages['es/guide/b']?.metadata.groups).toEqual(['Guía']);
  const order = ['guide/b', 'guide/a', 'es/guide/b', 'es/guide/a'].map((path) => pages[path]?.order ?? NaN);
  expect(order).toEqual(order.toSorted((a, b) => a - b));
});

it('reads the summaries of several spaces of GitBook in one repository', async () => {
  const pages = await read({
    '.gitbook.yaml': 'site: {}\n',
    'guides/SUMMARY.md': '# Summary\n\n## Start\n\n* [Home](README.md)\n* [B](b.md)\n',
    'guides/README.md': '# Guides',
    'guides/b.md': '# B',
    'api/SUMMARY.md': '* [A](a.md)\n',
    'api/a.md': '# A',
    'loose.md': '# Loose',
  });
  expect(Object.keys(pages).sort()).toEqual(['api/a', 'guides', 'guides/b', 'loose']);
  expect(pages['guides/b']).toMatchObject({ order: 2, boost: 1, metadata: { groups: ['guides', 'Start'] } });
  expect(pages['api/a']).toMatchObject({ order: 0 });
  expect(pages.loose).toMatchObject({ order: null, boost: 0.5 });
});

it.each([
  ['suffix', (page: string, language: string) => `docs/${page}.${language}.md`],
  ['folder', (page: string, language: string) => `docs/${language}/${page}.md`],
])('links translated pages of MkDocs with the structure %s to pages of their language', async (structure, fileFor) => {
  const pages = await read({
    'mkdocs.yml': `plugins:\n  - i18n:\n      docs_structure: ${structure}\n      languages:\n        - { locale: en, default: true }\n        - { locale: fr }\n`,
    [fileFor('a', 'en')]: '# A\n\n[B](b.md) [Only](only.md)',
    [fileFor('a', 'fr')]: '# A\n\n[B](b.md#x) [Only](only.md)',
    [fileFor('b', 'en')]: '# B',
    [fileFor('b', 'fr')]: '# B',
    [fileFor('only', 'en')]: '# Only',
  });
  expect(pages.a?.content).toContain('[B](/b) [Only](/only)');
  expect(pages['fr/a']?.content).toContain('[B](/fr/b#x) [Only](/only)');
});

it('translates the labels of categories of Docusaurus', async () => {
  const translations = (label: string) =>
    JSON.stringify({ 'sidebar.docs.category.Guides': { message: label }, 'version.label': { message: 'Suivante' } });
  const folder = 'i18n/fr/docusaurus-plugin-content-docs';
  const pages = await read({
    'docusaurus.config.js': '',
    'versions.json': '["1.0"]',
    'sidebars.js': "module.exports = { docs: [{ type: 'category', label: 'Guides', items: ['a'] }] };",
    'versioned_sidebars/version-1.0-sidebars.json': '{"docs":[{"type":"category","label":"Guides","items":["a"]}]}',
    'docs/a.md': '# A',
    'versioned_docs/version-1.0/a.md': '# A',
    [`${folder}/current.json`]: translations('Guides pratiques'),
    [`${folder}/version-1.0.json`]: translations('Anciens guides'),
    [`${folder}/current/a.md`]: '# A',
    [`${folder}/version-1.0/a.md`]: '# A',
  });
  expect(Object.fromEntries(Object.values(pages).map(({ path, metadata }) => [path, metadata.groups]))).toEqual({
    'docs/a': ['Guides'],
    'docs/next/a': ['Guides'],
    'fr/docs/a': ['Anciens guides'],
    'fr/docs/next/a': ['Guides pratiques'],
  });
});
