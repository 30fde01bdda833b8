import { describe, expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

async function read(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return Object.fromEntries(pages.map((page) => [page.path, page]));
}

describe('a site of MkDocs', () => {
  const nav = 'nav:\n  - index.md\n  - Guides:\n      - guide/b.md\n';
  const plugin = (structure: string) =>
    `${nav}plugins:\n  - search\n  - i18n:\n      docs_structure: ${structure}\n      languages:\n        - { locale: fr, name: Français, nav_translations: { Guides: Guides pratiques } }\n        - { locale: en, default: true, name: English }\n        - { locale: de, build: false }\n`;

  it.each([
    [
      'folder',
      {
        'docs/en/index.md': '# Home\n\n[B](guide/b.md)',
        'docs/en/guide/b.md': '# B',
        'docs/fr/index.md': '# Accueil',
        'docs/en/only.md': '# Only',
        'docs/fr/guide/b.md': '# B',
      },
    ],
    [
      'suffix',
      {
        'docs/index.md': '# Home\n\n[B](guide/b.md)',
        'docs/guide/b.en.md': '# B',
        'docs/index.fr.md': '# Accueil',
        'docs/only.md': '# Only',
        'docs/guide/b.fr.md': '# B',
      },
    ],
  ])(
    'has the languages of mkdocs-static-i18n with the structure %s',
    async (structure, pages: Record<string, string>) => {
      const byPath = await read({ 'mkdocs.yml': plugin(structure), ...pages });
      expect(Object.keys(byPath).sort()).toEqual(['fr/guide/b', 'fr/index', 'guide/b', 'index', 'only']);
      expect(byPath.index).toMatchObject({ boost: 1, metadata: { language: 'en', title: 'Home' } });
      expect(byPath.only).toMatchObject({ metadata: { shownIn: ['fr'] }, boost: 0.5 });
      expect(byPath.index?.metadata).not.toHaveProperty('shownIn');
      expect(byPath['guide/b']?.metadata).toMatchObject({ language: 'en', groups: ['Guides'] });
      expect(byPath['fr/guide/b']).toMatchObject({
        boost: 1,
        metadata: { language: 'fr', groups: ['Guides pratiques'] },
      });
      expect(byPath['fr/guide/b']?.order).toBeGreaterThan(byPath['guide/b']?.order ?? Infinity);
    },
  );

  it('has the languages that an older version of the plugin names', async () => {
    const config =
      'plugins:\n  i18n:\n    default_language: de\n    fallback_to_default: false\n    languages: { en: English, de: Deutsch }\n';
    const byPath = await read({
      'mkdocs.yml': config,
      'docs/a.md': '# A',
      'docs/b.en.md': '# B',
      'docs/c.fr.md': '# C',
    });
    expect(Object.values(byPath).map(({ path, metadata }) => [path, metadata.language, metadata.shownIn])).toEqual([
      ['a', 'de', undefined],
      ['en/b', 'en', undefined],
      ['c.fr', 'de', undefined],
    ]);
  });

  it('has the language of its theme', async () => {
    const byPath = await read({ 'mkdocs.yml': 'theme: { name: material, language: fr }\n', 'docs/a.md': '# A' });
    expect(byPath.a?.metadata.language).toBe('fr');
  });

  it.each([
    'plugins: i18n',
    'plugins: [{ i18n: [] }]',
    'plugins: [{ i18n: { languages: [1, {}, null] } }]',
    'plugins: 1',
  ])('has no languages if they are malformed: %s', async (config) => {
    const byPath = await read({ 'mkdocs.yml': `${config}\n`, 'docs/a.md': '# A' });
    expect(Object.keys(byPath)).toEqual(['a']);
  });
});

it('reads the languages of GitBook from LANGS.md, each with its summary', async () => {
  const byPath = await read({
    'LANGS.md': '# Languages\n\n* [English](en/)\n* [Français](./fr/README.md)\n* [Nowhere](de)\n',
    'README.md': '# All',
    'en/SUMMARY.md': '# Summary\n\n* [Home](README.md)\n\n## Guides\n\n* [Use](use.md)\n',
    'en/README.md': '# Home',
    'en/use.md': '# Use',
    'fr/SUMMARY.md': '* [Accueil](README.md)\n',
    'fr/README.md': '# Accueil',
  });
  expect(Object.keys(byPath).sort()).toEqual(['en', 'en/use', 'fr', 'index']);
  expect(byPath['en/use']).toMatchObject({ order: 1, metadata: { language: 'en', groups: ['Guides'] } });
  expect(byPath.fr).toMatchObject({ order: 2, metadata: { language: 'fr' } });
  expect(byPath.index?.metadata).not.toHaveProperty('language');
});

it('shows what Docusaurus does not translate in every language, in the main one first', async () => {
  const docs = (language: string) => `i18n/${language}/docusaurus-plugin-content-docs`;
  const byPath = await read({
    'docusaurus.config.ts':
      "const c = { i18n: { defaultLocale: 'ja', locales: ['ja', 'en', 'fr'] } };\nexport default c;",
    'versions.json': '["1.0"]',
    'docs/a.md': '# A',
    'docs/b.md': '# B',
    'versioned_docs/version-1.0/a.md': '# A 1',
    'src/pages/about.md': '# About',
    'blog/2024-05-06-news.md': '# News',
    [`${docs('en')}/current/a.md`]: '# A en',
    [`${docs('fr')}/version-1.0/a.md`]: '# A fr',
  });
  const languages = Object.values(byPath).map(({ path, metadata }) => [path, [metadata.language, metadata.shownIn]]);
  expect(Object.fromEntries(languages)).toEqual({
    'docs/next/a': ['ja', ['fr']],
    'docs/next/b': ['ja', ['en', 'fr']],
    'docs/a': ['ja', ['en']],
    about: ['ja', ['en', 'fr']],
    'blog/2024/05/06/news': ['ja', ['en', 'fr']],
    'en/docs/next/a': ['en', undefined],
    'fr/docs/a': ['fr', undefined],
  });
});

it('knows the languages of Docusaurus by their folders if the configuration computes them', async () => {
  const byPath = await read({
    'docusaurus.config.js': 'module.exports = { i18n: languages() };',
    'docs/a.md': '# A',
    'docs/b.md': '# B',
    'i18n/fr/docusaurus-plugin-content-docs/current/a.md': '# A fr',
  });
  expect(byPath['docs/a']?.metadata).not.toHaveProperty('shownIn');
  expect(byPath['docs/b']?.metadata).toMatchObject({ shownIn: ['fr'] });
});
