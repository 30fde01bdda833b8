import { posix } from 'node:path';
import { mkdocsIncludes } from '../formats/markdown-includes.ts';
import { isRecord, textOf } from '../front-matter.ts';
import { type Navigation, parseConfig } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import type { Layout, SourceFiles } from './layout.ts';
import {
  fileNames,
  linkedIn,
  localized,
  mkdocsLanguages,
  untranslated,
  type MkdocsLanguages,
} from './mkdocs-languages.ts';
import { labelOf, withBlocks, type BlockSyntax } from './markup.ts';

const maxDepth = 30;
const admonition: BlockSyntax = {
  open: /^(?:!!!|\?\?\?\+?)\s+([\w-]+)(?: [\w -]*)?(?:"([^"]*)")?$/,
  label: ([, type = '', title = '']) => labelOf(type, title),
};
const tab: BlockSyntax = { open: /^===[!+]?\s+"([^"]*)"/, label: ([, title = '']) => title };
/** `/// note | Title` … `///`, the blocks of PyMdown Extensions. A block that contains others has more slashes. */
const slashBlock: BlockSyntax = {
  open: /^\/{3,}\s+([\w-]+)\s*(?:\|\s*(.*))?$/s,
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
  const languages = mkdocsLanguages(config.plugins);
  const language = isRecord(config.theme) ? textOf(config.theme.language) : undefined;
  return {
    name: 'MkDocs',
    navigation: languages === null ? navigationOf(config.nav, folder) : navigationIn(languages, config.nav, folder),
    settings: {
      extra: usesMacros ? extra : {},
      isFlat,
      language,
      languages,
      pages: languages === null ? [] : [...files.keys()].filter((path) => path.startsWith(folder)).sort(),
    },
    ...(isFlat && { suffix: '.html' }),
    locate({ path }) {
      if (!path.startsWith(folder)) return null;
      const below = path.slice(folder.length);
      if (languages === null) return { path: addressOf(below), language };
      const page = localized(below, languages);
      const isMain = page.language === languages.main;
      const shownIn = isMain ? untranslated(page.rest, { files, folder, languages }) : [];
      return {
        path: isMain ? addressOf(page.rest) : `${page.language}/${addressOf(page.rest)}`,
        language: page.language,
        ...(shownIn.length > 0 && { shownIn }),
      };
    },
    ...(languages !== null && { linked: linkedIn(languages, { files, folder }) }),
    includes: { markdown: mkdocsIncludes(folder) },
    prepare(text) {
      const filled = usesMacros ? withVariables(text, extra) : text;
      return (
        withBlocks(filled, [admonition, tab, slashBlock])
          .replace(/^(#{1,6} .*)(?<![ \t])[ \t]*\{:?[ \t]*#([\w.:-]+)(?![\w.:-])[^{}\n]*\}[ \t]*$/gm, '$1 {#$2}')
          // mkdocstrings generates this from code
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

function addressOf(file: string): string {
  return pathOf(file).replace(/(^|\/)README$/, '$1index');
}

/** Reads the list of pages for each language. A language without a list uses the common one with its own titles. */
function navigationIn(i18n: MkdocsLanguages, nav: unknown, folder: string): Navigation {
  const entries: Navigation['entries'] = new Map();
  for (const { locale, nav: own, titles } of i18n.languages)
    addEntries(own ?? nav, {
      entries,
      filesOf: (page) => fileNames(page, locale, i18n).map((name) => folder + name),
      titleOf: (title) => textOf(titles[title]) ?? title,
    });
  return { entries, languages: [], versions: [] };
}

function navigationOf(nav: unknown, folder: string): Navigation {
  const entries: Navigation['entries'] = new Map();
  addEntries(nav, { entries, filesOf: (page) => [folder + page], titleOf: (title) => title });
  return { entries, languages: [], versions: [] };
}

interface NavigationWriter {
  entries: Navigation['entries'];
  /** Returns the names that the file of a page may have. */
  filesOf(page: string): string[];
  titleOf(title: string): string;
}

function addEntries(nav: unknown, { entries, filesOf, titleOf }: NavigationWriter): void {
  const visit = (value: unknown, groups: string[], depth: number): void => {
    if (typeof value === 'string') {
      const keys = /^[a-z]+:/i.test(value) ? [] : filesOf(value).map(pathOf);
      const order = entries.size;
      for (const key of keys) if (!entries.has(key)) entries.set(key, { order, groups, isHidden: false, boost: 1 });
    } else if (depth > maxDepth) return;
    else if (Array.isArray(value)) for (const entry of value) visit(entry, groups, depth + 1);
    else if (isRecord(value))
      for (const [title, below] of Object.entries(value))
        visit(below, typeof below === 'string' || title === '' ? groups : [...groups, titleOf(title)], depth + 1);
  };
  visit(nav, [], 0);
}

/** Fills in `{{ extra.name }}` and `{{ name }}`, the variables of the macros plugin. */
function withVariables(text: string, extra: Record<string, unknown>): string {
  return text.replace(/\{\{\s*(?:config\.)?(?:extra\.)?([\w.]{1,100})\s*\}\}/g, (whole, name: string) => {
    const value = name.split('.').reduce<unknown>((at, key) => (isRecord(at) ? at[key] : undefined), extra);
    return textOf(value)?.slice(0, 500) ?? whole;
  });
}
