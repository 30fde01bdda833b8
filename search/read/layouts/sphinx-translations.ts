import { posix } from 'node:path';
import type { Navigation } from '../navigation.ts';
import type { SourceFile } from '../source-file.ts';
import { literalOf } from './config-file.ts';
import type { SourceFiles } from './layout.ts';
import { normalizedMessage, readCatalogs, type Catalog } from './sphinx-catalogs.ts';

const maxPages = 20_000;

/** Returns the translation of a text as it is written in the source; null if there is none. */
export type Translate = (text: string) => string | null;

interface Translated {
  language: string;
  /** The folder of the language, with a trailing slash. */
  folder: string;
  original: string;
  messages: ReadonlyMap<string, string>;
}

/** The pages of a Sphinx project that its catalogs translate. */
export interface SphinxTranslations {
  /** A file for each of them: that of the original, below the folder of the language. */
  files: SourceFile[];
  /** Languages and the folders of their pages. */
  languages: { language: string; folder: string }[];
  find(path: string): Translated | null;
  /** Returns the languages into which a page is not translated. */
  missing(path: string): string[];
  /** Translates a text that may be in any document. */
  translateAny(text: string, language: string): string | null;
  translate(path: string): Translate | undefined;
  /** Returns the file to which a link leads in the language of the page that has it. */
  linked(file: string, from: string): string;
}

/**
 * Finds the pages of which at least half of the messages are translated. Their texts are those of the original files, block by
 * block, each replaced if a catalog has it.
 */
export function sphinxTranslations(
  files: SourceFiles,
  {
    top,
    config,
    documents,
    language: main,
  }: { top: string; config: string; documents: readonly string[]; language: string },
): SphinxTranslations {
  const below = documents.map((path) => path.slice(top.length));
  const catalogs = readCatalogs(files, { folders: foldersOf(config, top), documents: new Set(below) });
  const pages = new Map<string, Translated>();
  const added: SourceFile[] = [];
  const languages: SphinxTranslations['languages'] = [];
  const domainOf = domainsBy(config);
  for (const [code, domains] of [...catalogs].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const language = code.replaceAll('_', '-');
    if (language.toLowerCase() === main.toLowerCase()) continue;
    const folder = `${language.toLowerCase()}/`;
    for (const name of below) {
      const catalog = domains.get(domainOf(name));
      const original = files.get(top + name);
      const path = `${top}${folder}${name}`;
      if (catalog === undefined || original === undefined || files.has(path) || pages.size >= maxPages) continue;
      if (!isTranslated(catalog, name)) continue;
      pages.set(path, { language, folder, original: original.path, messages: catalog.messages });
      added.push(translatedFile(path, original, catalog.file));
    }
    if (added.some(({ path }) => path.startsWith(top + folder))) languages.push({ language, folder });
  }
  const find = (path: string) => pages.get(path) ?? null;
  const translate = (path: string): Translate | undefined => {
    const messages = pages.get(path)?.messages;
    return messages && ((text) => messages.get(normalizedMessage(text)) ?? null);
  };
  const codes = new Map([...catalogs.keys()].map((code) => [code.replaceAll('_', '-'), code]));

  return {
    files: added,
    languages,
    find,
    translate,
    missing: (path) =>
      languages
        .filter(({ folder }) => !pages.has(`${top}${folder}${path.slice(top.length)}`))
        .map(({ language }) => language),
    translateAny(text, language) {
      const id = normalizedMessage(text);
      for (const { messages } of catalogs.get(codes.get(language) ?? '')?.values() ?? []) {
        const translation = messages.get(id);
        if (translation !== undefined) return translation;
      }
      return null;
    },
    linked(file, from) {
      const page = pages.get(from);
      if (page === undefined || !file.startsWith(top)) return file;
      const own = top + page.folder;
      const name = file.slice(file.startsWith(own) ? own.length : top.length);
      return ['', '.rst', '.md'].some((ending) => pages.has(own + name + ending)) ? own + name : top + name;
    },
  };
}

/** Adds the translated pages of a table of contents after all others, with the translated titles of its parts. */
export function withTranslations(
  navigation: Navigation,
  { top, translations }: { top: string; translations: SphinxTranslations },
): Navigation {
  const entries = new Map(navigation.entries);
  const files = new Set(translations.files.map(({ path }) => path.replace(/\.\w+$/, '')));
  for (const { language, folder } of translations.languages) {
    const titles = new Map<string, string>();
    const titleOf = (title: string) => {
      const known = titles.get(title) ?? translations.translateAny(title, language) ?? title;
      titles.set(title, known);
      return known;
    };
    for (const [page, entry] of navigation.entries) {
      const key = `${top}${folder}${page.slice(top.length)}`;
      if (files.has(key)) entries.set(key, { ...entry, order: entries.size, groups: entry.groups.map(titleOf) });
    }
  }
  return { ...navigation, entries };
}

function isTranslated({ counts }: Catalog, document: string): boolean {
  const isNamed = counts.size > 1;
  const { all, translated } = counts.get(isNamed ? document : '') ?? { all: 0, translated: 0 };
  return translated > 0 && translated * 2 >= all;
}

function translatedFile(path: string, original: SourceFile, catalog: SourceFile): SourceFile {
  const name =
    original.name === undefined || catalog.name === undefined ? undefined : `${original.name}+${catalog.name}`;
  return { path, ...(name !== undefined && { name }), read: () => original.read() };
}

/** Returns the folders of `locale_dirs`. */
function foldersOf(config: string, top: string): string[] {
  const list = /^locale_dirs\s*=\s*\[([^\]]*)/m.exec(config)?.[1];
  const names = [...(list ?? '"locales"').matchAll(/["']([^"'\n]{1,300})["']/g)].slice(0, 20);
  return names.map(([, name = '']) => posix.join(top, name, '/').replace(/^\.\//, ''));
}

/** Returns the domain of a document by `gettext_compact`: by default that of its first folder. */
function domainsBy(config: string): (document: string) => string {
  const one = literalOf(config, 'gettext_compact');
  const isWhole = /^gettext_compact\s*=\s*(?:False|0)\b/m.test(config);
  return (document) => {
    const name = document.replace(/\.\w+$/, '');
    return one ?? (isWhole ? name : (name.split('/')[0] ?? name));
  };
}
