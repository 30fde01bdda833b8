import { isRecord, textOf } from '../front-matter.ts';
import type { SourceFiles } from './layout.ts';

const maxLanguages = 100;

interface MkdocsLanguage {
  locale: string;
  /** Its own list of pages, if it has one. */
  nav: unknown;
  /** Titles of the list of pages in this language. */
  titles: Record<string, unknown>;
}

/** The languages of the plugin mkdocs-static-i18n. */
export interface MkdocsLanguages {
  /** The main one comes first. */
  languages: MkdocsLanguage[];
  main: string;
  /** Pages are in a folder for each language, instead of `page.fr.md`. */
  hasFolders: boolean;
  /** Pages are shown in languages into which they are not translated. */
  hasFallback: boolean;
}

/** Reads the options of the plugin `i18n`; null if it is not used. */
export function mkdocsLanguages(plugins: unknown): MkdocsLanguages | null {
  const entries = Array.isArray(plugins) ? plugins : [plugins];
  const options = entries.map((entry) => (isRecord(entry) ? entry.i18n : undefined)).find(isRecord);
  if (options === undefined) return null;
  const found = statedIn(options.languages).slice(0, maxLanguages);
  const main = textOf(options.default_language) ?? found.find(({ isDefault }) => isDefault)?.locale ?? found[0]?.locale;
  if (main === undefined) return null;
  const languages = found.map(({ locale, value }) => ({
    locale,
    nav: value.nav,
    titles: isRecord(value.nav_translations) ? value.nav_translations : {},
  }));
  return {
    languages: languages.toSorted((a, b) => Number(b.locale === main) - Number(a.locale === main)),
    main,
    hasFolders: options.docs_structure === 'folder',
    hasFallback: options.fallback_to_default !== false,
  };
}

/** Returns the languages of a list, or of an object by their names, as older versions of the plugin have it. */
function statedIn(value: unknown): { locale: string; isDefault: boolean; value: Record<string, unknown> }[] {
  const entries = Array.isArray(value)
    ? value.map((entry): [unknown, unknown] => [isRecord(entry) ? entry.locale : entry, entry])
    : Object.entries(isRecord(value) ? value : {});
  return entries.flatMap(([name, entry]) => {
    const locale = textOf(name);
    const stated = isRecord(entry) ? entry : {};
    return locale === undefined || locale === 'null' || stated.build === false
      ? []
      : [{ locale, isDefault: stated.default === true, value: stated }];
  });
}

/** Returns the language of a page and its path without it, from its path below the folder of pages. */
export function localized(below: string, { languages, main, hasFolders }: MkdocsLanguages) {
  const pattern = hasFolders ? /^([^/]+)\/(.+)$/ : /^(.+)\.([^./]+)(\.[^./]+)$/;
  const [, first = '', second = '', extension = ''] = pattern.exec(below) ?? [];
  const locale = hasFolders ? first : second;
  return languages.some((language) => language.locale === locale)
    ? { language: locale, rest: hasFolders ? second : first + extension }
    : { language: main, rest: below };
}

/** Returns the names that the file of a page may have in a language. */
export function fileNames(page: string, locale: string, { main, hasFolders }: MkdocsLanguages): string[] {
  const own = hasFolders ? `${locale}/${page}` : page.replace(/(\.[^./]+)$/, `.${locale}$1`);
  return locale === main ? [own, page] : [own];
}

/** Returns the languages into which a page of the main one is not translated, but in which it is shown. */
export function untranslated(
  page: string,
  { files, folder, languages }: { files: SourceFiles; folder: string; languages: MkdocsLanguages },
): string[] {
  if (!languages.hasFallback) return [];
  return languages.languages
    .map(({ locale }) => locale)
    .filter((locale) => !fileNames(page, locale, languages).some((name) => files.has(folder + name)))
    .filter((locale) => locale !== languages.main);
}

/**
 * Returns the function that resolves a link from a page of a language to a file: the page in this language, or else in
 * the main one.
 */
export function linkedIn(
  languages: MkdocsLanguages,
  { files, folder }: { files: SourceFiles; folder: string },
): (file: string, from: string) => string {
  return (file, from) => {
    if (!file.startsWith(folder) || !from.startsWith(folder)) return file;
    const { language } = localized(from.slice(folder.length), languages);
    const { rest } = localized(file.slice(folder.length), languages);
    const names = [language, languages.main].flatMap((locale) => fileNames(rest, locale, languages));
    return names.map((name) => folder + name).find((name) => files.has(name)) ?? file;
  };
}
