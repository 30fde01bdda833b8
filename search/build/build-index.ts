import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { countCommonTerms, updateCommonTerms } from './common-terms.ts';
import { isKnown, UnreadError, type WantedPage } from '../query/known-pages.ts';
import { createPageWriter } from '../read/page-writer.ts';
import { isSameLanguage, languageOf } from './languages.ts';
import { createArtifact, openArtifact, openArtifactForChange } from './schema.ts';
import { indexFormat } from '../query/index-format.ts';
import type { SourcePage } from '../read/source-page.ts';

export interface BuiltIndex {
  pages: number;
  chunks: number;
  changedPages: number;
  /** Hash of all pages; equal to `previous`' when nothing changed. */
  sourceHash: string;
}

interface HashedPage {
  path: string;
  hash: string;
  order: number | null;
  language: string;
  /** Null if the page is taken over from the previous artifact. */
  page: SourcePage | null;
}

interface Plan {
  added: HashedPage[];
  removed: number[];
}

interface BuildOptions {
  file: string;
  previousFile?: string;
  /** Fingerprint of the navigation, by which pages are recognized. */
  navigation?: string;
  /** End of the published addresses of all pages, such as `.html`. */
  suffix?: string;
  /** Some pages exist only in the previous artifact, so it is updated even if most pages differ. */
  isLasting?: boolean;
}

const maxChangeShare = 0.2;

/**
 * Builds an artifact at `file`, reusing unchanged pages of `previousFile` if given. Hidden pages are excluded. Throws
 * UnreadError when a full build is needed and a page was not read.
 */
export function buildIndex(
  pages: Iterable<WantedPage>,
  { file, previousFile, navigation = '', suffix = '', isLasting = false }: BuildOptions,
): BuiltIndex {
  const wanted = hashPages(pages);
  const sourceHash = hashAll(wanted, suffix);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    const plan = previousFile === undefined ? null : planChange(wanted, previousFile, isLasting);
    const result =
      plan === null || previousFile === undefined
        ? buildAll(wanted, { partial, navigation, suffix })
        : change(wanted, plan, { partial, previousFile, navigation, suffix });
    renameSync(partial, file);
    return { ...result, pages: wanted.length, sourceHash };
  } finally {
    rmSync(partial, { force: true });
  }
}

function hashPages(pages: Iterable<WantedPage>): HashedPage[] {
  const byPath = new Map<string, HashedPage>();
  for (const page of pages) {
    if (byPath.has(page.path)) continue;
    if (isKnown(page)) byPath.set(page.path, { ...page, page: null });
    else if (!page.isHidden) byPath.set(page.path, hashPage(page));
  }
  return [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function hashPage(page: SourcePage): HashedPage {
  const { path, content, metadata, boost, order, restrictedTo } = page;
  const { title, description, version, language, shownIn, tags, groups, keywords, url } = metadata;
  const facts = JSON.stringify([
    path,
    boost,
    title,
    description,
    version,
    language,
    tags,
    groups,
    keywords,
    restrictedTo,
    url,
    shownIn,
  ]);
  const hash = createHash('sha256').update(facts).update('\0').update(content).digest('base64url').slice(0, 22);
  return { path, hash, order, language: languageOf(language), page };
}

function hashAll(pages: HashedPage[], suffix: string): string {
  const hash = createHash('sha256').update(`format ${indexFormat} ${suffix}\n`);
  for (const { order, hash: own } of pages) hash.update(`${own} ${order ?? ''}\n`);
  return hash.digest('hex');
}

/**
 * Returns the changes to the previous artifact; null when it is unusable, or when too much of it has changed over time.
 */
function planChange(wanted: HashedPage[], previousFile: string, isLasting: boolean): Plan | null {
  if (!existsSync(previousFile)) return null;
  try {
    using database = openArtifact(previousFile);
    if (readMeta(database, 'format') !== String(indexFormat)) return null;
    const known = new Map<string, { id: number; hash: string }>();
    for (const row of database.prepare('select id, path, hash from pages').iterate()) {
      known.set(String(row.path), { id: Number(row.id), hash: String(row.hash) });
    }
    const added = wanted.filter(({ path, hash }) => known.get(path)?.hash !== hash);
    for (const { path, hash } of wanted) if (known.get(path)?.hash === hash) known.delete(path);
    const removed = [...known.values()].map(({ id }) => id);
    const drift = Number(readMeta(database, 'drift')) + Math.max(added.length, removed.length);
    return !isLasting && drift > Math.max(2, wanted.length * maxChangeShare) ? null : { added, removed };
  } catch {
    return null;
  }
}

function buildAll(
  wanted: HashedPage[],
  { partial, navigation, suffix }: { partial: string; navigation: string; suffix: string },
): { chunks: number; changedPages: number } {
  using database = createArtifact(partial);
  database.exec('begin');
  const writer = createPageWriter(database);
  for (const page of wanted) writer.add(readOf(page), page.hash);
  writeOrder(database, wanted);
  database.exec(`insert into chunk_text (chunk_text) values ('optimize')`);
  countCommonTerms(database);
  writeMeta(database, {
    format: String(indexFormat),
    drift: '0',
    language: mainLanguage(wanted),
    version: mainVersion(database),
    navigation,
    suffix,
  });
  database.exec('commit');
  return { chunks: countChunks(database), changedPages: wanted.length };
}

function change(
  wanted: HashedPage[],
  plan: Plan,
  {
    partial,
    previousFile,
    navigation,
    suffix,
  }: { partial: string; previousFile: string; navigation: string; suffix: string },
) {
  copyFileSync(previousFile, partial);
  using database = openArtifactForChange(partial);
  database.exec('begin');
  const writer = createPageWriter(database);
  for (const id of plan.removed) writer.remove(id);
  for (const page of plan.added) writer.add(readOf(page), page.hash);
  writeOrder(database, wanted);
  updateCommonTerms(database, writer.countChanges());
  const changedPages = Math.max(plan.added.length, plan.removed.length);
  writeMeta(database, {
    drift: String(Number(readMeta(database, 'drift')) + changedPages),
    language: mainLanguage(wanted),
    version: mainVersion(database),
    navigation,
    suffix,
  });
  database.exec('commit');
  return { chunks: countChunks(database), changedPages };
}

function readOf({ page, path }: HashedPage): SourcePage {
  if (page === null) throw new UnreadError(`The page ${path} was not read.`);
  return page;
}

/** Writes the order of the pages, and the sources of those that were read. */
function writeOrder(database: DatabaseSync, wanted: HashedPage[]): void {
  const ids = new Map<string, number>();
  for (const row of database.prepare('select id, path from pages').iterate()) ids.set(String(row.path), Number(row.id));
  const inOrder = wanted
    .toSorted((a, b) => (a.order ?? Infinity) - (b.order ?? Infinity) || (a.path < b.path ? -1 : 1))
    .map(({ path }) => ids.get(path) ?? 0);
  writeSources(database, wanted, ids);
  const known = database.prepare('select page from page_order order by position').all();
  if (known.length === inOrder.length && known.every((row, at) => row.page === inOrder[at])) return;
  database.exec('delete from page_order');
  const insert = database.prepare('insert into page_order (position, page) values (?, ?)');
  for (const [position, page] of inOrder.entries()) insert.run(position, page);
}

/** Writes the sources of the pages that were read; those of the others are already in the artifact. */
function writeSources(database: DatabaseSync, wanted: HashedPage[], ids: ReadonlyMap<string, number>): void {
  const write = database.prepare(
    `insert into sources (page, file, name, position) values (?, ?, ?, ?)
     on conflict (page) do update set file = excluded.file, name = excluded.name, position = excluded.position
     where (file, name, position) is not (excluded.file, excluded.name, excluded.position)`,
  );
  const remove = database.prepare('delete from sources where page = ?');
  for (const { page, path, order } of wanted) {
    if (page === null) continue;
    const id = ids.get(path) ?? 0;
    if (page.source === undefined) remove.run(id);
    else write.run(id, page.source.file, page.source.name, order);
  }
}

/**
 * Returns the language of pages that state none: the first of the navigation; without a navigation English, unless the
 * site has English pages and most pages are in another language.
 */
function mainLanguage(pages: HashedPage[]): string {
  const first = pages
    .filter(({ order }) => order !== null)
    .reduce<HashedPage | null>((best, page) => ((page.order ?? 0) < (best?.order ?? Infinity) ? page : best), null);
  if (first !== null && first.language !== '') return first.language;
  const counts = new Map<string, number>();
  for (const { language } of pages) if (language !== '') counts.set(language, (counts.get(language) ?? 0) + 1);
  if (![...counts.keys()].some((language) => isSameLanguage(language, 'en'))) return 'en';
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? 'en';
}

/**
 * Returns the site's main version: the one without a folder of its own, else the first in the navigation. Empty if no
 * page has a version.
 */
function mainVersion(database: DatabaseSync): string {
  const row = database
    .prepare(
      `select json_extract(metadata, '$.version') as version from pages join page_order on page = id where version is not null
       order by instr('/' || path, '/' || version || '/') > 0, position limit 1`,
    )
    .get();
  return String(row?.version ?? '');
}

function countChunks(database: DatabaseSync): number {
  return Number(database.prepare('select count(*) as count from chunks').get()?.count ?? 0);
}

function readMeta(database: DatabaseSync, key: string): string | null {
  const row = database.prepare('select value from meta where key = ?').get(key);
  return row === undefined ? null : String(row.value);
}

/** Writes the values and the number of passages, because counting these whenever the index is opened takes too long. */
function writeMeta(database: DatabaseSync, facts: Record<string, string>): void {
  const values = { ...facts, passages: String(countChunks(database)) };
  const write = database.prepare(
    'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value where value <> excluded.value',
  );
  for (const [key, value] of Object.entries(values)) write.run(key, value);
}
