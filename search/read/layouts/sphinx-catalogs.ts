import { po } from 'gettext-parser';
import type { SourceFile } from '../source-file.ts';
import type { SourceFiles } from './layout.ts';

const maxLength = 2_000_000;
/** Length of all catalogs of a project, in characters. */
const maxTotalLength = 50_000_000;
const maxPartLength = 20_000;
const maxLanguages = 100;
const catalogPath = /^([A-Za-z]{2,3}(?:[_-][A-Za-z0-9]{2,8})*(?:@[a-z]{1,20})?)\/LC_MESSAGES\/(.+)\.po$/;

/** The translations of one domain into a language. */
export interface Catalog {
  file: SourceFile;
  messages: ReadonlyMap<string, string>;
  /** Number of messages per document, if the catalog names documents; the total under ''. */
  counts: ReadonlyMap<string, { all: number; translated: number }>;
}

/** Reads the catalogs of a project by language and domain; `folders` are those of its configuration. */
export function readCatalogs(
  files: SourceFiles,
  { folders, documents }: { folders: readonly string[]; documents: ReadonlySet<string> },
): Map<string, Map<string, Catalog>> {
  const languages = new Map<string, Map<string, Catalog>>();
  let left = maxTotalLength;
  for (const file of files.values()) {
    if (!file.path.endsWith('.po')) continue;
    const folder = folders.find((name) => file.path.startsWith(name));
    const [, language = '', domain = ''] =
      folder === undefined ? [] : (catalogPath.exec(file.path.slice(folder.length)) ?? []);
    const known = languages.get(language);
    if (language === '' || (known === undefined && languages.size >= maxLanguages)) continue;
    const text = file.read();
    left -= text.length;
    if (text.length > maxLength || left < 0) continue;
    const catalogs = known ?? new Map<string, Catalog>();
    // an earlier folder comes first
    if (!catalogs.has(domain)) catalogs.set(domain, { file, ...parse(text, documents) });
    languages.set(language, catalogs);
  }
  return languages;
}

/** Parses a catalog; one that is malformed has no messages. Fuzzy translations are left out, as Sphinx does. */
function parse(text: string, documents: ReadonlySet<string>): Omit<Catalog, 'file'> {
  const messages = new Map<string, string>();
  const counts = new Map<string, { all: number; translated: number }>();
  for (const { msgid, msgstr, comments } of entriesOf(text)) {
    const id = normalizedMessage(msgid);
    if (id === '') continue;
    const translation = /\bfuzzy\b/.test(comments?.flag ?? '') ? '' : (msgstr?.[0] ?? '').trim();
    if (translation !== '') messages.set(id, translation);
    for (const document of ['', ...documentsNamed(comments?.reference ?? '', documents)]) {
      const count = counts.get(document) ?? { all: 0, translated: 0 };
      counts.set(document, { all: count.all + 1, translated: count.translated + (translation === '' ? 0 : 1) });
    }
  }
  return { messages, counts };
}

/** Returns the entries of a catalog. It is parsed in parts, because the parser takes long for many forms of one message. */
function entriesOf(text: string) {
  return partsOf(text).flatMap((part) => {
    try {
      return Object.values(po.parse(part).translations[''] ?? {});
    } catch {
      return [];
    }
  });
}

/** Splits a catalog between its entries. */
function partsOf(text: string): string[] {
  const parts: string[] = [];
  let open: string[] = [];
  let length = 0;
  for (const entry of text.split(/\r?\n[ \t]*\r?\n/)) {
    if (entry.length > maxPartLength) continue;
    if (length + entry.length > maxPartLength) {
      parts.push(open.join('\n\n'));
      open = [];
      length = 0;
    }
    open.push(entry);
    length += entry.length;
  }
  return [...parts, open.join('\n\n')];
}

/** Returns the documents that the location comment of a message names. */
function documentsNamed(reference: string, documents: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  for (const location of reference.split(/\s+/).slice(0, 100)) {
    const names = location
      .slice(0, 500)
      .replace(/(?::\d+)?$/, '')
      .split('/')
      .filter((name) => name !== '..' && name !== '.');
    const from = names.findIndex((_, at) => documents.has(names.slice(at).join('/')));
    if (from !== -1) found.add(names.slice(from).join('/'));
  }
  return found;
}

/** Messages are compared without regard to the lines on which they stand. */
export function normalizedMessage(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
