import { slugOf } from '../anchors.ts';
import { isRecord, textOf } from '../front-matter.ts';
import { noNavigation } from '../navigation.ts';
import { addressOf, configFilesOf, languageFolders, literalOf, orderOf, textOfFile } from './config-file.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';

/** Starlight: `astro.config.*` that uses it, of which only plain strings are read. */
export function starlightLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)astro\.config\.[cm]?[jt]s$/);
  const config = configs.find(({ file }) => textOfFile(file).includes('@astrojs/starlight'));
  if (config === undefined) return null;
  const top = `${config.folder}src/content/docs/`;
  const folders = languageFolders(files, top);
  const main = literalOf(textOfFile(config.file), 'lang')?.split('-')[0] ?? 'en';
  return {
    name: 'Starlight',
    navigation: noNavigation,
    settings: { top, folders, main },
    place({ path, values }) {
      if (!path.startsWith(top)) return null;
      const segments = path
        .slice(top.length)
        .replace(/\.(?:mdx?|markdown)$/i, '')
        .split('/');
      if (segments.some((segment) => segment.startsWith('_')) || segments.at(-1) === '404') return null;
      const [first = ''] = segments;
      const language = folders.length === 0 ? undefined : folders.includes(first) ? first : main;
      const slug = textOf(values.slug);
      const own = segments.filter((segment, at) => at < segments.length - 1 || segment !== 'index').map(slugOf);
      const sidebar = isRecord(values.sidebar) ? values.sidebar : {};
      const position = typeof sidebar.order === 'number' ? sidebar.order : undefined;
      const order = position === undefined ? undefined : orderOf([...segments.slice(1).map(() => undefined), position]);
      return { path: addressOf(...(slug === undefined ? own : [slug])), language, order };
    },
    prepare: (text) => withBlocks(text, [colonBlock]),
  };
}
