import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { ofSite, type SourceRef } from './site-sources.ts';
import { toStoredText } from '../stored-text.ts';

/** A page as it was last read, without its content. */
export interface WebsitePage {
  url: string;
  etag: string | null;
  lastModified: string | null;
  /** URL under which it is published. */
  canonical: string;
  links: string[];
  /** Hash of its content; null if it is not indexed. */
  name: string | null;
  /** Length of its content, in characters. */
  size: number;
  /** A crawl that is not finished has read it. */
  isChecked: boolean;
  /** `indexFormat` when it was read. */
  format: number;
}

/** Pages of crawled websites, by which the next crawl asks only for changes. */
export type WebsitePageStore = ReturnType<typeof createWebsitePageStore>;

/** Creates the store of crawled pages. */
export function createWebsitePageStore(pool: Pool) {
  const keyOf = ({ id, organizationId, prefix }: SourceRef) => [id, organizationId, prefix];
  return {
    async list(website: SourceRef): Promise<WebsitePage[]> {
      const { rows } = await pool.query<WebsitePage>(
        `select url, etag, last_modified as "lastModified", canonical, links, name, coalesce(length(content), 0) as size,
                is_checked as "isChecked", format
         from website_pages where ${ofSite} and source = $3 order by url`,
        keyOf(website),
      );
      return rows;
    },

    /** Returns the contents of pages by their URLs. */
    async contents(website: SourceRef, urls: readonly string[]): Promise<Map<string, string>> {
      const { rows } = await pool.query<{ url: string; content: string }>(
        `select url, content from website_pages where ${ofSite} and source = $3 and url = any($4) and content is not null`,
        [...keyOf(website), urls],
      );
      return new Map(rows.map(({ url, content }) => [url, content]));
    },

    /** Stores a page that the current crawl has read. */
    async put(
      website: SourceRef,
      page: Omit<WebsitePage, 'size' | 'isChecked'> & { content: string | null },
    ): Promise<void> {
      const { url, etag, lastModified, canonical, links, content, name, format } = page;
      await pool.query(
        `insert into website_pages (site_id, source, url, etag, last_modified, canonical, links, content, name, format, is_checked)
         select id, $3, $4, $5, $6, $7, $8, $9, $10, $11, true from sites where id = $1 and organization_id = $2
         on conflict (site_id, source, url) do update set
           etag = excluded.etag, last_modified = excluded.last_modified, canonical = excluded.canonical,
           links = excluded.links, content = excluded.content, name = excluded.name, format = excluded.format, is_checked = true`,
        [
          ...keyOf(website),
          url,
          etag,
          lastModified,
          canonical,
          links,
          content === null ? null : toStoredText(content),
          name,
          format,
        ],
      );
    },

    /** Records that the current crawl has found a page unchanged. */
    async check(website: SourceRef, url: string): Promise<void> {
      await pool.query(
        `update website_pages set is_checked = true where ${ofSite} and source = $3 and url = $4 and not is_checked`,
        [...keyOf(website), url],
      );
    },

    /** Removes all pages of a website but these. */
    async keepOnlyPages(website: SourceRef, urls: readonly string[]): Promise<void> {
      await pool.query(`delete from website_pages where ${ofSite} and source = $3 and url <> all($4)`, [
        ...keyOf(website),
        urls,
      ]);
    },

    /** Ends a crawl, so that the next one reads all pages again. */
    async finish(website: SourceRef): Promise<void> {
      await pool.query(
        `update website_pages set is_checked = false where ${ofSite} and source = $3 and is_checked`,
        keyOf(website),
      );
    },

    /** Removes the pages of sources that the site no longer has. */
    async keepOnly({ id, organizationId }: SiteRef, prefixes: readonly string[]): Promise<void> {
      await pool.query(`delete from website_pages where ${ofSite} and source <> all($3)`, [
        id,
        organizationId,
        prefixes,
      ]);
    },
  };
}
