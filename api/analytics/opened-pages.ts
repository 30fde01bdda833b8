import type { SiteRef } from '../../db/caller.ts';
import type { SiteRollups } from '../../db/for-service/site-rollups.ts';
import type { PageMetadata } from '../../search/read/source-page.ts';

/** Largest number of pages that are counted between two flushes. */
const maxPages = 10_000;

export type OpenedPages = ReturnType<typeof createOpenedPages>;

/** Counts opened pages in memory, so that no reader waits for the database. A kill loses the counts since the last flush. */
export function createOpenedPages({ countOpened }: Pick<SiteRollups, 'countOpened'>) {
  let opened = new Map<string, Parameters<typeof countOpened>[0][number]>();

  return {
    /** Counts a page that a reader has opened. */
    note(
      { id: siteId }: SiteRef,
      { path, metadata: { version = '', language = '' } }: { path: string; metadata: PageMetadata },
    ): void {
      const key = JSON.stringify([siteId, path, version, language]);
      const known = opened.get(key);
      if (known !== undefined) known.times += 1;
      else if (opened.size < maxPages) opened.set(key, { siteId, path, version, language, times: 1 });
    },

    /** Stores the counts since the last call. */
    async flush(): Promise<void> {
      if (opened.size === 0) return;
      const counted = opened;
      opened = new Map();
      try {
        await countOpened([...counted.values()]);
      } catch (error) {
        for (const [key, page] of counted) {
          const newer = opened.get(key);
          opened.set(key, { ...page, times: page.times + (newer?.times ?? 0) });
        }
        throw error;
      }
    },
  };
}
