import type { DatabaseSync } from 'node:sqlite';
import { createPassageFinder } from './find-passages.ts';
import { pathOf } from '../read/paths.ts';
import { openArtifact } from '../build/schema.ts';
import { contentOf, metadataOf, textsOf } from '../build/stored-page.ts';
import type { PageMetadata } from '../read/source-page.ts';
import type { SearchRequest, SearchHit } from './search-request.ts';

/** One version of a site's index, read-only, opened from a file. */
export interface SiteIndex {
  search(request: SearchRequest): SearchHit[];
  /** The page's Markdown, null when unknown or hidden. Accepts a leading slash, an extension, an anchor. */
  page(path: string): { path: string; content: string; metadata: PageMetadata } | null;
  /** Whether a link of an answer leads to a page (and anchor) of the site. */
  hasLink(path: string, anchor: string | null): boolean;
  /** Paths and titles, in navigation order; for a model's table of contents. */
  pages(): { path: string; title: string }[];
  [Symbol.dispose](): void;
}

/** Format of the artifact and of what is made of a page: an index of another format is rebuilt from all files. */
export const indexFormat = 3;

/** Below this score of its best hit a question counts as not answered by the documentation. */
export const weakEvidence = 0.4;

/** Characters of pages that an open index keeps unpacked. */
const mostUnpacked = 2_000_000;

/** Opens an artifact. Throws when the file is not an index of `indexFormat`. */
export function openSiteIndex(file: string): SiteIndex {
  const database = openArtifact(file);
  try {
    return siteIndexOf(database, file);
  } catch (error) {
    database.close();
    throw error;
  }
}

function siteIndexOf(database: DatabaseSync, file: string): SiteIndex {
  const rows = database.prepare('select key, value from meta').all();
  const meta = new Map(rows.map((row) => [String(row.key), String(row.value)]));
  if (meta.get('format') !== String(indexFormat))
    throw new Error(`${file} is an index of another format. Build it again.`);
  const findPassages = createPassageFinder(database, { mainLanguage: meta.get('language') ?? 'en' });
  const readPage = database.prepare('select * from pages where id = ?');
  const readChunk = database.prepare('select start, end, anchor, headings from chunks where id = ?');
  const byPath = database.prepare('select * from pages where path in (?, ?) order by length(path) limit 1');
  const anchorsOf = database.prepare('select anchors from pages where path in (?, ?) order by length(path) limit 1');
  const inOrder = database.prepare(
    'select p.path, p.title from page_order as o join pages as p on p.id = o.page order by o.position',
  );

  const unpacked = new Map<number, { content: string; metadata: PageMetadata }>();
  let unpackedLength = 0;

  /** Unpacking a page costs more than all else that is done for a passage of it. */
  function pageOf(id: number): { content: string; metadata: PageMetadata } {
    const known = unpacked.get(id);
    if (known !== undefined) return known;
    const row = readPage.get(id) ?? {};
    const page = { content: contentOf(row), metadata: metadataOf(row.metadata) };
    unpackedLength += page.content.length;
    if (unpackedLength > mostUnpacked) {
      unpacked.clear();
      unpackedLength = page.content.length;
    }
    unpacked.set(id, page);
    return page;
  }

  function search(request: SearchRequest): SearchHit[] {
    return findPassages(request).map(({ chunk, page, path, score }) => {
      const { content, metadata } = pageOf(page);
      const row = readChunk.get(chunk) ?? {};
      const passage = content.slice(Number(row.start), Number(row.end));
      const anchor = row.anchor === null ? null : String(row.anchor);
      return {
        path,
        anchor,
        title: metadata.title,
        headings: textsOf(row.headings),
        content: passage,
        metadata,
        score,
      };
    });
  }

  return {
    search,
    page(path) {
      const row = byPath.get(...variantsOf(path));
      return row === undefined
        ? null
        : { path: String(row.path), content: contentOf(row), metadata: metadataOf(row.metadata) };
    },
    hasLink(path, anchor) {
      const row = anchorsOf.get(...variantsOf(path));
      if (row === undefined) return false;
      return anchor === null || anchor === '' || textsOf(row.anchors).includes(anchor.replace(/^#/, ''));
    },
    pages: () => inOrder.all().map((row) => ({ path: String(row.path), title: String(row.title) })),
    [Symbol.dispose]: () => database.close(),
  };
}

/** A folder's page may be asked for by the folder. */
function variantsOf(path: string): [string, string] {
  const wanted = pathOf(path);
  return [wanted, wanted === 'index' ? 'README' : `${wanted}/index`];
}
