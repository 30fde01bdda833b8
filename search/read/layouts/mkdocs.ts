import { posix } from 'node:path';
import { mkdocsIncludes } from '../formats/markdown-includes.ts';
import { isRecord, textOf } from '../front-matter.ts';
import { type Navigation, parseConfig } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import type { Layout, SourceFiles } from './layout.ts';
import { labelOf, withBlocks, type BlockSyntax } from './markup.ts';

const deepest = 30;
const admonition: BlockSyntax = {
  open: /^(?:!!!|\?\?\?\+?)\s+([\w-]+)[\w -]*(?:"([^"]*)")?\s*$/,
  label: ([, type = '', title = '']) => labelOf(type, title),
};
const tab: BlockSyntax = { open: /^===[!+]?\s+"([^"]*)"/, label: ([, title = '']) => title };
/** `/// note | Title` … `///`, the blocks of PyMdown Extensions. A block that contains others has more slashes. */
const slashBlock: BlockSyntax = {
  open: /^\/{3,}\s+([\w-]+)\s*(?:\|\s*(.*))?$/,
  label([, type = '', title = '']) {
    if (['html', 'define', 'caption', 'figure-caption', 'table-caption'].includes(type)) return '';
    return ['tab', 'details', 'admonition'].includes(type) ? title : labelOf(type, title);
  },
  close: /^\/{3,}$/,
  option: /^ {4,}[\w-]+:/,
};

/** MkDocs: `mkdocs.yml`. */
export function mkdocsLayout(files: SourceFiles): Layout | null {
  const name = ['mkdocs.yml', 'mkdocs.yaml'].find((name) => files.has(name));
  // its own tags, such as !ENV and !!python/name, have no meaning here
  const config =
    name === undefined ? undefined : parseConfig(files.get(name), (text) => text.replace(/!!?[\w/]+[\w/:.]*/g, ''));
  if (!isRecord(config)) return null;
  const folder = posix.join(textOf(config.docs_dir) ?? 'docs', '/').replace(/^\.?\//, '');
  const isFlat = config.use_directory_urls === false;
  const extra = isRecord(config.extra) ? config.extra : {};
  const usesMacros = JSON.stringify(config.plugins ?? []).includes('macros');
  return {
    name: 'MkDocs',
    navigation: navigationOf(config.nav, folder),
    settings: { extra: usesMacros ? extra : {}, isFlat },
    ...(isFlat && { suffix: '.html' }),
    place({ path }) {
      if (!path.startsWith(folder)) return null;
      return { path: pathOf(path.slice(folder.length)).replace(/(^|\/)README$/, '$1index') };
    },
    includes: { markdown: mkdocsIncludes(folder) },
    prepare(text) {
      const filled = usesMacros ? withVariables(text, extra) : text;
      return (
        withBlocks(filled, [admonition, tab, slashBlock])
          .replace(/^(#{1,6} .*?)[ \t]*\{:?[ \t]*#([\w.:-]+)[^{}\n]*\}[ \t]*$/gm, '$1 {#$2}')
          // what mkdocstrings generates from code
          .replace(/^([ \t]*):::[ \t]+([\w.]{1,200})[ \t]*$(?:\n\1[ \t]+\S.*$)*/gm, '$1`$2`')
          .replace(/(?<=[)\]`*_:\n])[ \t]*\{:?[ \t]*[.#:a-z][^{}\n]{0,200}\}/g, (attributes) => {
            const id = /[\s{:]#([\w.:-]+)/.exec(attributes)?.[1];
            return id === undefined ? '' : ` {#${id}}`;
          })
          .replace(/:(?:material|octicons|fontawesome|simple)-[\w-]{1,60}:[ \t]?/g, '')
      );
    },
  };
}

function navigationOf(nav: unknown, folder: string): Navigation {
  const entries: Navigation['entries'] = new Map();
  const visit = (value: unknown, groups: string[], depth: number): void => {
    if (typeof value === 'string') {
      const key = pathOf(folder + value);
      if (!/^[a-z]+:/i.test(value) && !entries.has(key))
        entries.set(key, { order: entries.size, groups, isHidden: false, boost: 1 });
    } else if (depth > deepest) return;
    else if (Array.isArray(value)) for (const entry of value) visit(entry, groups, depth + 1);
    else if (isRecord(value))
      for (const [title, below] of Object.entries(value))
        visit(below, typeof below === 'string' || title === '' ? groups : [...groups, title], depth + 1);
  };
  visit(nav, [], 0);
  return { entries, languages: [], versions: [] };
}

/** Fills in `{{ extra.name }}` and `{{ name }}`, the variables of the macros plugin. */
function withVariables(text: string, extra: Record<string, unknown>): string {
  return text.replace(/\{\{\s*(?:config\.)?(?:extra\.)?([\w.]{1,100})\s*\}\}/g, (whole, name: string) => {
    const value = name.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), extra);
    return textOf(value)?.slice(0, 500) ?? whole;
  });
}
