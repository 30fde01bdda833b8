import { posix } from 'node:path';
import { vitepressIncludes } from '../formats/markdown-includes.ts';
import { textOf } from '../front-matter.ts';
import { noNavigation } from '../navigation.ts';
import { addressOf, configFilesOf, languageFolders, literalOf, orderInList, textOfFile } from './config-file.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { colonBlock, withBlocks } from './markup.ts';
import { listedIn, readSidebars } from './vitepress-sidebar.ts';

/** VitePress: `.vitepress/config.*`, of which only literals are read. */
export function vitepressLayout(files: SourceFiles): Layout | null {
  const configs = configFilesOf(files, /(?:^|\/)\.vitepress\/config(?:\/index)?\.[cm]?[jt]s$/);
  const [config] = configs;
  if (config === undefined) return null;
  const text = textOfFile(config.file);
  const top = posix.join(config.folder, literalOf(text, 'srcDir') ?? '', '/').replace(/^(?:\.\.?)?\//, '');
  const moved = /["']([\w-]+)\/:rest\*["']\s*:\s*["']:rest\*["']/.exec(text)?.[1];
  const folders = languageFolders(files, top);
  const main = moved ?? literalOf(text, 'lang')?.split('-')[0];
  const listed = readSidebars(files, config.folder, top);
  return {
    name: 'VitePress',
    navigation: noNavigation,
    settings: { top, moved, folders, main, listed: [...listed] },
    locate({ path }) {
      if (!path.startsWith(top) || !/\.md$/i.test(path)) return null;
      const [first = '', ...rest] = path.slice(top.length).replace(/\.md$/i, '').split('/');
      if (first.startsWith('.') || /^(?:components|snippets|public)$/.test(first)) return null;
      const language = folders.length === 0 ? undefined : folders.includes(first) ? first : main;
      const address = first === moved ? rest : [first, ...rest];
      const page = addressOf(...address);
      const entry = listedIn(listed, page);
      const isTranslation = language !== main;
      return {
        path: page,
        language,
        ...(entry && { order: orderInList(entry.at, [], isTranslation), groups: entry.groups }),
      };
    },
    includes: { markdown: vitepressIncludes(top) },
    prepare: (source, { values }) =>
      withBlocks(source, [colonBlock])
        // an unclosed tag extends to the end, so that the page is scanned only once
        .replace(/^<(script|style)\b[^]*?(?:^<\/\1>[ \t]*$|(?![^]))/gm, '')
        .replace(/\{\{\s*\$frontmatter\.(\w{1,60})\s*\}\}/g, (whole, name: string) => textOf(values[name]) ?? whole)
        .replace(/^(#{1,6} [^\n`]{0,300}?)<Badge\b[^>\n]{0,200}?\btext="([^"\n]{1,100})"[^>\n]{0,200}>/gm, '$1$2')
        .replace(/^(```+\s*[\w-]+)[ \t]*(?:\{[^}\n]*\})?[^\n[]*\[([^\]\n]{1,200})\]/gm, '**$2**\n\n$1'),
  };
}
