import type { DatabaseSync } from 'node:sqlite';
import { createPassageFinder } from './find-passages.ts';
import { isReadable, termsOf, type PageAccess } from './page-access.ts';
import { createPageFilter } from './page-filter.ts';
import { pathOf } from '../read/paths.ts';
import { openArtifact } from '../build/schema.ts';
import { spaceOf } from '../build/vectors.ts';
import { contentOf, metadataOf, textsOf } from '../build/stored-page.ts';
import type { PageMetadata } from '../read/source-page.ts';
import type { SearchFilter, SearchRequest, SearchHit } from './search-request.ts';
import { isSearchable } from './index-format.ts';
import { mergeParts, partsOf } from './split-question.ts';
import { createSharedCache } from './shared-cache.ts';
import { createSuggester, type SuggestRequest, type Suggestion } from './suggest.ts';

export interface ListedPage {
  position: number;
  path: string;
  metadata: PageMetadata;
}

/** An index opened from a file. Pages can be read only on behalf of a reader. */
export interface OpenedIndex {
  /** Returns the index as a reader sees it: pages that they may not read do not exist. */
  as(access: PageAccess): SiteIndex;
  [Symbol.dispose](): void;
}

/** One version of a site's index as one reader sees it, read-only. */
export interface SiteIndex extends SitePages {
  search(request: SearchRequest): SearchHit[];
  /** Returns the titles and headings that contain what a reader types. */
  suggest(request: SuggestRequest): Suggestion[];
}

/** The pages of a site as one reader sees them. */
export interface SitePages {
  /** A question whose best passage scores lower counts as not answered by the documentation. */
  readonly weakScore: number;
  /** Embedding model of its vectors, as `provider/model` with the prefix of passages; null when it has none. */
  readonly vectorModel: string | null;
  /**
   * Returns the page's Markdown, null when unknown, hidden, or if it does not match the filter as search does. Accepts a
   * leading slash, an extension, an anchor.
   */
  page(path: string, filter?: SearchFilter | null): { path: string; content: string; metadata: PageMetadata } | null;
  /** Reports whether a link of an answer leads to a page (and anchor) of the site. */
  hasLink(path: string, anchor: string | null): boolean;
  /** Returns up to `limit` pages from a position on, in navigation order. */
  pages(range: { from: number; limit: number }): ListedPage[];
}

/**
 * Returns the score of the best passage below which a question counts as not answered by the documentation. It grows
 * with the index: the more passages there are, the better the best one matches by chance.
 */
export function weakScoreOf(passages: number): number {
  return Math.min(0.55, 0.415 + 0.025 * Math.max(0, Math.log(passages) - 6.5));
}

interface UnpackedPage {
  content: string;
  metadata: PageMetadata;
}

/**
 * Size of the page cache of all open indexes, in characters. Decompressing a page costs more than all other work for
 * one of its passages.
 */
const unpacked = createSharedCache<number, UnpackedPage>(
  8_000_000,
  ({ content, metadata }) => content.length + JSON.stringify(metadata).length,
);

/** Opens an artifact. Throws when the file is not an index of a format that can be searched. */
export function openSiteIndex(file: string): OpenedIndex {
  const database = openArtifact(file);
  try {
    return siteIndexOf(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

function siteIndexOf(database: DatabaseSync, file: string): OpenedIndex {
  const rows = database.prepare('select key, value from meta').all();
  const meta = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  if (!isSearchable(Number(meta.get('format') ?? NaN)))
    throw new Error(`${file} is an index of another format. Build it again.`);
  const suffix = meta.get('suffix') ?? '';
  const mainLanguage = meta.get('language') ?? 'en';
  const mainVersion = meta.get('version') ?? '';
  const count = () => database.prepare('select count(*) as count from chunks').get()?.count;
  const passages = Number(meta.get('passages') ?? count() ?? 0);
  const weakScore = weakScoreOf(passages);
  const vectorModel = spaceOf(database)?.model ?? null;
  // created on first use: preparing them reads much of the file, and some processes only read pages
  let find: ReturnType<typeof createPassageFinder> | null = null;
  let suggest: ReturnType<typeof createSuggester> | null = null;
  const readPage = database.prepare('select * from pages where id = ?');
  const readChunk = database.prepare('select start, end, before, after, anchor, headings from chunks where id = ?');
  const one = `from pages where path in (?1, ?2) and ${isReadable} order by length(path) limit 1`;
  const byPath = database.prepare(`select id, path ${one}`);
  const anchorsOf = database.prepare(`select anchors ${one}`);
  const inOrder = database.prepare(
    `select o.position, p.path, p.metadata from page_order as o join pages as p on p.id = o.page
     where o.position >= ?1 and ${isReadable} order by o.position limit ?2`,
  );

  function pageOf(id: number): UnpackedPage {
    const known = unpacked.get(database, id);
    if (known !== undefined) return known;
    const row = readPage.get(id) ?? {};
    const page = { content: contentOf(row), metadata: metadataOf(row.metadata) };
    unpacked.set(database, id, page);
    return page;
  }

  function searchOne(request: SearchRequest, access: PageAccess): SearchHit[] {
    find ??= createPassageFinder(database, { mainLanguage, mainVersion, passages });
    return find(request, access).map(({ chunk, page, path, score }) => {
      const { content, metadata } = pageOf(page);
      const row = readChunk.get(chunk) ?? {};
      const passage = String(row.before) + content.slice(Number(row.start), Number(row.end)) + String(row.after);
      const anchor = row.anchor === null ? null : String(row.anchor);
      return {
        path: path + suffix,
        anchor,
        title: metadata.title,
        headings: textsOf(row.headings),
        content: passage,
        metadata,
        score,
      };
    });
  }

  function search(request: SearchRequest, access: PageAccess): SearchHit[] {
    const whole = searchOne(request, access);
    const parts = request.isSingle === true ? [] : partsOf(request);
    return mergeParts(
      whole,
      parts.map((part) => searchOne(part, access)),
      { weakScore, limit: request.limit },
    );
  }

  return {
    as(access) {
      const own = termsOf(access);
      return {
        weakScore,
        vectorModel,
        search: (request) => search(request, access),
        suggest(request) {
          suggest ??= createSuggester(database, { mainLanguage, mainVersion });
          return suggest(request, access).map((suggestion) => ({ ...suggestion, path: suggestion.path + suffix }));
        },
        page(path, filter) {
          const row = byPath.get(...variantsOf(path), own);
          if (row === undefined) return null;
          const page = pageOf(Number(row.id));
          const isWanted = createPageFilter(filter ?? {}, mainLanguage)?.(page.metadata) ?? true;
          return isWanted ? { path: String(row.path) + suffix, ...page } : null;
        },
        hasLink(path, anchor) {
          const row = anchorsOf.get(...variantsOf(path), own);
          if (row === undefined) return false;
          return anchor === null || anchor === '' || textsOf(row.anchors).includes(anchor.replace(/^#/, ''));
        },
        pages: ({ from, limit }) =>
          inOrder.all(from, limit, own).map((row) => ({
            position: Number(row.position),
            path: String(row.path) + suffix,
            metadata: metadataOf(row.metadata),
          })),
      };
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

/** A folder's page is also found by the folder's path. */
function variantsOf(path: string): [string, string] {
  const wanted = pathOf(path);
  return [wanted, wanted === 'index' ? 'README' : `${wanted}/index`];
}
