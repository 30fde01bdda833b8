import type { Logger } from 'pino';
import type { SiteRef } from '../../db/caller.ts';
import type { EmptySearchStore } from '../../db/sites/empty-searches.ts';
import type { PageAccess } from '../../search/query/page-access.ts';
import type { SitePages } from '../../search/query/site-index.ts';
import type { SearchFilter, SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import type { OpenedPages } from '../analytics/opened-pages.ts';
import type { SearchPassages } from '../assistant/retrieval/search-passages.ts';
import type { LeasedIndex, SiteIndexes } from '../assistant/site-indexes.ts';
import { siteNotIndexed } from '../http/errors.ts';

/** A site, and the pages of it that its reader may read. */
export interface SiteReader {
  site: SiteRef;
  access: PageAccess;
}

export interface SiteReadingDeps {
  openedPages: Pick<OpenedPages, 'note'>;
  indexes: SiteIndexes;
  searchPassages: SearchPassages;
  emptySearches: Pick<EmptySearchStore, 'count'>;
  log: Logger;
}

export type SiteReading = ReturnType<typeof createSiteReading>;

/** Creates the access to the indexes of sites that the routes share. */
export function createSiteReading(deps: SiteReadingDeps) {
  const { indexes, searchPassages, emptySearches, openedPages, log } = deps;
  /** Runs work with a site's newest index, which stays open meanwhile. Throws ApiError when the site has none. */
  const withIndex = async <Result>(
    { site, access }: SiteReader,
    work: (index: LeasedIndex) => Result | Promise<Result>,
  ): Promise<Result> => {
    const lease = await indexes.lease(site, access);
    if (lease === null) throw siteNotIndexed();
    try {
      return await work(lease.index);
    } finally {
      lease.release();
    }
  };

  return {
    withIndex,

    /** Returns a page that matches the filter, null when there is none, and counts that a reader has opened it. */
    async openPage(
      reader: SiteReader,
      path: string,
      { filter = null, isSignedIn = false }: { filter?: SearchFilter | null; isSignedIn?: boolean } = {},
    ): Promise<ReturnType<SitePages['page']>> {
      const page = await withIndex(reader, (index) => index.page(path, filter));
      if (page === null) return null;
      if (!isSignedIn) openedPages.note(reader.site, page);
      return page;
    },

    /** Searches a site and counts a search that found nothing, unless its signal has aborted. */
    async search(reader: SiteReader, request: SearchRequest, signal: AbortSignal): Promise<SearchHit[]> {
      const hits = await withIndex(reader, (index) => searchPassages(index, request, signal));
      if (hits.length === 0 && !signal.aborted) {
        emptySearches.count(reader.site, request.query).catch((error: unknown) => {
          log.warn({ err: error, site: reader.site.id }, 'a search that found nothing was not counted');
        });
      }
      return hits;
    },
  };
}
