import { describe, expect, it } from 'vitest';
import { readPages } from '../../../../search/read/read-pages.ts';
import { fileOf } from '../build.ts';

/** Returns the pages that have a position, in their order, each with its groups. */
async function listed(files: Record<string, string>) {
  const pages = await readPages(Object.entries(files).map(([path, text]) => fileOf(path, text)));
  return pages
    .filter(({ order }) => order !== null)
    .toSorted((a, b) => (a.order ?? 0) - (b.order ?? 0) || (a.path < b.path ? -1 : 1))
    .map(({ path, metadata }) => [path, ...(metadata.groups ?? [])]);
}

describe('the sidebar of VitePress', () => {
  const pages = {
    'docs/index.md': '# Home',
    'docs/guide/index.md': '# Guide',
    'docs/guide/zebra.md': '# Zebra',
    'docs/guide/apple.md': '# Apple',
    'docs/api/b.md': '# B',
    'docs/api/a.md': '# A',
    'docs/lost.md': '# Lost',
  };

  it('is read as a list', async () => {
    const config = `export default {
      themeConfig: {
        sidebar: [
          { text: 'Guide', link: '/guide/', collapsed: true, items: [
            { text: 'Zebra', link: '/guide/zebra.html#top' },
            { text: 'Fruit', items: [{ text: 'Apple', link: 'guide/apple' }] },
          ] },
          { text: 'Elsewhere', link: 'https://a.example' },
        ],
      },
    }`;
    expect(await listed({ ...pages, 'docs/.vitepress/config.js': config })).toEqual([
      ['guide/index'],
      ['guide/zebra', 'Guide'],
      ['guide/apple', 'Guide', 'Fruit'],
    ]);
  });

  it('is read as a list for each folder, also from functions and from other files', async () => {
    const config = `import { api } from './api';
      export default defineConfig({
        themeConfig: { sidebar: { '/guide/': { base: '/guide/', items: guide() }, '/x/': computed(1) } },
      });
      function guide(): DefaultTheme.SidebarItem[] {
        return [{ text: 'Guide', items: [{ text: 'Zebra', link: 'zebra' }] }];
      }`;
    const other =
      "export const sidebar = { '/api/': [{ text: 'API', items: [{ link: '/api/b' }, { link: '/api/a.md' }] }] };";
    expect(
      await listed({ ...pages, 'docs/.vitepress/config/index.mts': config, 'docs/.vitepress/config/api.ts': other }),
    ).toEqual([
      ['guide/zebra', 'Guide'],
      ['api/b', 'API'],
      ['api/a', 'API'],
    ]);
  });

  it('is read for each language, the main one first', async () => {
    const config = `export default {
      lang: 'en-US',
      locales: {
        fr: { themeConfig: { sidebar: [{ text: 'Début', items: [{ link: '/fr/a' }] }] } },
        root: { themeConfig: { sidebar: [{ text: 'Start', items: [{ link: '/b' }, { link: '/a' }] }] } },
      },
    }`;
    const files = { 'a.md': '# A', 'b.md': '# B', 'fr/a.md': '# A' };
    expect(await listed({ ...files, '.vitepress/config.ts': config })).toEqual([
      ['b', 'Start'],
      ['a', 'Start'],
      ['fr/a', 'Début'],
    ]);
  });

  it.each(['{', 'sidebar: [', 'sidebar: [1, { items: 2, link: {} }]', 'sidebar: make()'])(
    'is left out if it is malformed: %s',
    async (text) => {
      expect(await listed({ ...pages, 'docs/.vitepress/config.js': text })).toEqual([]);
    },
  );
});
