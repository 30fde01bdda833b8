import { createHash } from 'node:crypto';
import type { SQLOutputValue } from 'node:sqlite';
import type { Layout } from '../read/layouts/layout.ts';
import { groupOfReader } from '../build/facets.ts';
import { openArtifact } from '../build/schema.ts';
import { contentOf, metadataOf, textsOf } from '../build/stored-page.ts';
import type { PageSource, SourcePage } from '../read/source-page.ts';

/** A page that the previous index contains in its current form: its file and the navigation are unchanged. */
export interface KnownPage {
  path: string;
  hash: string;
  order: number | null;
  /** In the form that the index compares: lower case, empty for none. */
  language: string;
}

/** Input of a build: pages read now, or known from the previous index. */
export type WantedPage = SourcePage | KnownPage;

export interface KnownPages {
  /** Fingerprint of the navigation that placed the pages. */
  navigation: string;
  /** By the path of the file and the name of its content. */
  bySource: ReadonlyMap<string, KnownPage>;
}

/** A file or page that was assumed to be unchanged is needed after all; all of them have to be read. */
export class UnreadError extends Error {
  override name = 'UnreadError';
}

export function isKnown(page: WantedPage): page is KnownPage {
  return 'hash' in page;
}

/** Returns a key of `bySource`. */
export function sourceKey({ file, name }: PageSource): string {
  return `${name} ${file}`;
}

/** Returns a fingerprint that is equal for layouts that locate and read every page alike. */
export function fingerprintOf({ name, navigation, settings }: Layout): string {
  const { entries, languages, versions } = navigation;
  return hashOf([name, [...entries], languages, versions, settings]);
}

/** Returns a fingerprint of the files whose pages have their own addresses, to which links of other pages lead. */
export function addressesOf(files: readonly (readonly [file: string, path: string])[]): string {
  return files.length === 0 ? '' : hashOf(files);
}

function hashOf(facts: unknown): string {
  return createHash('sha256').update(JSON.stringify(facts)).digest('base64url').slice(0, 22);
}

/** Returns the keys of the files whose pages an artifact may contain in their current form; none if it cannot tell. */
export function readKnownSources(artifact: string): Set<string> {
  try {
    using database = openArtifact(artifact);
    const rows = database.prepare('select file, name from sources').all();
    return new Set(rows.map((row) => sourceKey({ file: String(row.file), name: String(row.name) })));
  } catch {
    return new Set();
  }
}

/** Returns all pages of an artifact, also those that were read from several files; none if it cannot tell. */
export function readAllPages(artifact: string): KnownPage[] {
  try {
    using database = openArtifact(artifact);
    const rows = database.prepare(
      `select p.path, p.hash, p.language, case when s.page is null then o.position else s.position end as position
       from pages as p left join sources as s on s.page = p.id left join page_order as o on o.page = p.id`,
    );
    return rows.all().map(pageOf);
  } catch {
    return [];
  }
}

/** Returns all pages of an artifact with their texts, for an artifact of another format; none if it cannot tell. */
export function readStoredPages(artifact: string): SourcePage[] {
  try {
    using database = openArtifact(artifact);
    const rows = database.prepare(
      `select p.path, p.metadata, p.content, p.is_packed, p.boost, p.readers,
         case when s.page is null then o.position else s.position end as position
       from pages as p left join sources as s on s.page = p.id left join page_order as o on o.page = p.id`,
    );
    return rows.all().map((row) => ({
      path: String(row.path),
      content: contentOf(row),
      metadata: metadataOf(row.metadata),
      restrictedTo: row.readers == null ? null : textsOf(row.readers).map(groupOfReader),
      isHidden: false,
      order: row.position == null ? null : Number(row.position),
      boost: Number(row.boost),
    }));
  } catch {
    return [];
  }
}

/** Returns the pages of an artifact with the files they were read from; null if it cannot tell. */
export function readKnownPages(artifact: string): KnownPages | null {
  try {
    using database = openArtifact(artifact);
    const navigation = database.prepare(`select value from meta where key = 'navigation'`).get();
    if (navigation === undefined) return null;
    const bySource = new Map<string, KnownPage>();
    const rows = database.prepare(
      `select s.file, s.name, s.position, p.path, p.hash, p.language from sources as s join pages as p on p.id = s.page`,
    );
    for (const row of rows.iterate()) {
      bySource.set(sourceKey({ file: String(row.file), name: String(row.name) }), pageOf(row));
    }
    return { navigation: String(navigation.value), bySource };
  } catch {
    return null;
  }
}

function pageOf({ path, hash, position, language }: Record<string, SQLOutputValue>): KnownPage {
  return {
    path: String(path),
    hash: String(hash),
    order: position == null ? null : Number(position),
    language: String(language),
  };
}
