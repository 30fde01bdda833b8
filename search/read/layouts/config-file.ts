import { posix } from 'node:path';
import { UnreadError } from '../../query/known-pages.ts';
import type { SourceFile } from '../source-file.ts';
import type { SourceFiles } from './layout.ts';

const maxDepth = 4;
const maxLength = 1_000_000;

export interface ConfigFile {
  file: SourceFile;
  /** Its folder, empty or with a trailing slash. */
  folder: string;
}

/** Returns the files whose path ends with what the pattern matches, those nearest to the top first. */
export function configFilesOf(files: SourceFiles, pattern: RegExp): ConfigFile[] {
  return [...files.values()]
    .filter(({ path }) => pattern.test(path) && depthOf(path) <= maxDepth)
    .map((file) => ({ file, folder: file.path.slice(0, pattern.exec(file.path)?.index ?? 0) }))
    .map(({ file, folder }) => ({ file, folder: folder === '' || folder.endsWith('/') ? folder : `${folder}/` }))
    .sort((a, b) => depthOf(a.folder) - depthOf(b.folder) || (a.folder < b.folder ? -1 : 1));
}

function depthOf(path: string): number {
  return path.split('/').length - 1;
}

/** Returns the text of a file; empty if it was not read because it is unchanged. */
export function textOfFile(file: SourceFile | undefined): string {
  try {
    return file?.read().slice(0, maxLength) ?? '';
  } catch (error) {
    if (error instanceof UnreadError) return '';
    throw error;
  }
}

/** Returns a setting of a configuration that is a program, if it is written as a plain string there. */
export function literalOf(text: string, name: string): string | undefined {
  return new RegExp(`(?:^|[\\s{,])["']?${name}["']?\\s*[:=]\\s*["']([^"'\\n]{0,300})["']`).exec(text)?.[1];
}

/** Joins the parts of an address that are not empty; `index` for none. */
export function addressOf(...parts: (string | undefined)[]): string {
  const path = posix.normalize(parts.filter((part) => part !== undefined && part !== '').join('/'));
  return path.replace(/^(?:\.{0,2}\/)+|\/$/g, '').replace(/^\.+$/, '') || 'index';
}

const levels = 5;
const perLevel = 800;
/** Greater than any order within a source, and small enough that the orders of all sources stay exact numbers. */
export const ordersPerSource = 8e14;

/**
 * Returns one number by which pages are sorted as by a list of positions, from the folder at the top down. Translations
 * come last, so that the first page is in the main language.
 */
export function orderOf(positions: readonly (number | undefined)[], isTranslation = false): number | undefined {
  if (positions.every((position) => position === undefined)) return undefined;
  return Array.from({ length: levels }, (_, level) => {
    // pages without a position come last, and a folder's own page before the pages inside
    const position = level < positions.length ? (positions[level] ?? perLevel - 2) : 0;
    return Math.max(0, Math.min(perLevel - 1, Math.round(position))) * perLevel ** (levels - 1 - level);
  }).reduce((sum, part) => sum + part, isTranslation ? perLevel ** levels : 0);
}

/** Returns the order of an item of a list by its position, and of pages inside it by their own positions. */
export function orderInList(
  at: number,
  inside: readonly (number | undefined)[] = [],
  isTranslation = false,
): number | undefined {
  return orderOf([Math.floor(at / perLevel), at % perLevel, ...inside], isTranslation);
}

/** Returns the folders directly below a folder that are named like a language and have pages. */
export function languageFolders(files: SourceFiles, folder: string): string[] {
  const names = new Set<string>();
  for (const path of files.keys()) {
    const name = path.startsWith(folder) ? /^([^/]+)\//.exec(path.slice(folder.length))?.[1] : undefined;
    if (name !== undefined && isLanguage(name)) names.add(name);
  }
  return [...names].sort();
}

const names = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' });

/** Reports whether a name is the code of a language, with a region or script or without. */
export function isLanguage(name: string): boolean {
  return /^[a-z]{2}(?:-[A-Za-z]{2,4})?$/.test(name) && names.of(name) !== undefined;
}
