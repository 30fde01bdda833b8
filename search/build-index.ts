import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, renameSync, rmSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { countCommonTerms, updateCommonTerms } from './common-terms.ts';
import { createPageWriter, languageOf } from './page-writer.ts';
import { createArtifact, openArtifact, openArtifactForChange } from './schema.ts';
import { indexFormat } from './site-index.ts';
import type { SourcePage } from './site-index.ts';

export interface BuiltIndex {
  pages: number;
  chunks: number;
  changedPages: number;
  /** Hash of all pages; equal to `previous`' when nothing changed. */
  sourceHash: string;
}

interface HashedPage {
  page: SourcePage;
  hash: string;
}

interface Plan {
  added: HashedPage[];
  removed: number[];
}

const largestChange = 0.2;

/** Builds an artifact at `file`, taking unchanged pages from `previousFile` where given (incremental). Hidden pages stay out. */
export function buildIndex(
  pages: Iterable<SourcePage>,
  { file, previousFile }: { file: string; previousFile?: string },
): BuiltIndex {
  const wanted = hashPages(pages);
  const sourceHash = hashAll(wanted);
  const partial = `${file}.partial`;
  rmSync(partial, { force: true });
  try {
    const plan = previousFile === undefined ? null : planChange(wanted, previousFile);
    const result =
      plan === null || previousFile === undefined
        ? buildAll(wanted, partial)
        : change(wanted, plan, { partial, previousFile });
    renameSync(partial, file);
    return { ...result, pages: wanted.length, sourceHash };
  } finally {
    rmSync(partial, { force: true });
  }
}

function hashPages(pages: Iterable<SourcePage>): HashedPage[] {
  const byPath = new Map<string, HashedPage>();
  for (const page of pages) {
    if (page.isHidden || byPath.has(page.path)) continue;
    const { path, content, metadata, boost } = page;
    const { title, description, version, language, tags, groups, keywords } = metadata;
    const facts = JSON.stringify([path, boost, title, description, version, language, tags, groups, keywords]);
    byPath.set(path, {
      page,
      hash: createHash('sha256').update(facts).update('\0').update(content).digest('base64url').slice(0, 22),
    });
  }
  return [...byPath.values()].sort((a, b) => (a.page.path < b.page.path ? -1 : 1));
}

function hashAll(pages: HashedPage[]): string {
  const hash = createHash('sha256').update(`format ${indexFormat}\n`);
  for (const { page, hash: own } of pages) hash.update(`${own} ${page.order ?? ''}\n`);
  return hash.digest('hex');
}

/** What to change in the previous artifact; null when it is of no use or too much of it changed by and by. */
function planChange(wanted: HashedPage[], previousFile: string): Plan | null {
  if (!existsSync(previousFile)) return null;
  try {
    using database = openArtifact(previousFile);
    if (readMeta(database, 'format') !== String(indexFormat)) return null;
    const known = new Map<string, { id: number; hash: string }>();
    for (const row of database.prepare('select id, path, hash from pages').iterate()) {
      known.set(String(row.path), { id: Number(row.id), hash: String(row.hash) });
    }
    const added = wanted.filter(({ page, hash }) => known.get(page.path)?.hash !== hash);
    for (const { page, hash } of wanted) if (known.get(page.path)?.hash === hash) known.delete(page.path);
    const removed = [...known.values()].map(({ id }) => id);
    const drift = Number(readMeta(database, 'drift')) + Math.max(added.length, removed.length);
    return drift > Math.max(2, wanted.length * largestChange) ? null : { added, removed };
  } catch {
    return null;
  }
}

function buildAll(wanted: HashedPage[], partial: string): { chunks: number; changedPages: number } {
  using database = createArtifact(partial);
  database.exec('begin');
  const writer = createPageWriter(database);
  for (const { page, hash } of wanted) writer.add(page, hash);
  writeOrder(database, wanted);
  database.exec(`insert into chunk_text (chunk_text) values ('optimize')`);
  countCommonTerms(database);
  writeMeta(database, { format: String(indexFormat), drift: '0', language: mainLanguage(wanted) });
  database.exec('commit');
  return { chunks: countChunks(database), changedPages: wanted.length };
}

function change(
  wanted: HashedPage[],
  plan: Plan,
  { partial, previousFile }: { partial: string; previousFile: string },
) {
  copyFileSync(previousFile, partial);
  using database = openArtifactForChange(partial);
  database.exec('begin');
  const writer = createPageWriter(database);
  for (const id of plan.removed) writer.remove(id);
  for (const { page, hash } of plan.added) writer.add(page, hash);
  writeOrder(database, wanted);
  updateCommonTerms(database, writer.countChanges());
  const changedPages = Math.max(plan.added.length, plan.removed.length);
  writeMeta(database, {
    drift: String(Number(readMeta(database, 'drift')) + changedPages),
    language: mainLanguage(wanted),
  });
  database.exec('commit');
  return { chunks: countChunks(database), changedPages };
}

function writeOrder(database: DatabaseSync, wanted: HashedPage[]): void {
  const ids = new Map<string, number>();
  for (const row of database.prepare('select id, path from pages').iterate()) ids.set(String(row.path), Number(row.id));
  const inOrder = wanted
    .toSorted((a, b) => (a.page.order ?? Infinity) - (b.page.order ?? Infinity) || (a.page.path < b.page.path ? -1 : 1))
    .map(({ page }) => ids.get(page.path) ?? 0);
  const known = database.prepare('select page from page_order order by position').all();
  if (known.length === inOrder.length && known.every((row, at) => row.page === inOrder[at])) return;
  database.exec('delete from page_order');
  const insert = database.prepare('insert into page_order (position, page) values (?, ?)');
  for (const [position, page] of inOrder.entries()) insert.run(position, page);
}

/**
 * The language of pages that state none: that in which the navigation begins; without one English, unless the site has English
 * pages and most are in another language.
 */
function mainLanguage(pages: HashedPage[]): string {
  const first = pages
    .filter(({ page }) => page.order !== null)
    .reduce<SourcePage | null>((best, { page }) => ((page.order ?? 0) < (best?.order ?? Infinity) ? page : best), null);
  if (first?.metadata.language !== undefined) return languageOf(first.metadata.language);
  const counts = new Map<string, number>();
  for (const { page } of pages) {
    const language = page.metadata.language?.toLowerCase();
    if (language !== undefined) counts.set(language, (counts.get(language) ?? 0) + 1);
  }
  if (!counts.has('en')) return 'en';
  return [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1))[0]?.[0] ?? 'en';
}

function countChunks(database: DatabaseSync): number {
  return Number(database.prepare('select count(*) as count from chunks').get()?.count ?? 0);
}

function readMeta(database: DatabaseSync, key: string): string | null {
  const row = database.prepare('select value from meta where key = ?').get(key);
  return row === undefined ? null : String(row.value);
}

function writeMeta(database: DatabaseSync, values: Record<string, string>): void {
  const write = database.prepare(
    'insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value where value <> excluded.value',
  );
  for (const [key, value] of Object.entries(values)) write.run(key, value);
}
