import type { Pool } from 'pg';
import { deleteInBatches } from '../delete-in-batches.ts';
import { addSiteRollups, siteRollupWidths } from '../sites/site-rollups.ts';
import { toStoredText } from '../stored-text.ts';
import { rollUpFacts } from '../roll-up-facts.ts';

interface OpenedPage {
  siteId: string;
  path: string;
  version: string;
  language: string;
  times: number;
}

/** Pages of a site that are kept for each day once it has ended, those most cited and opened. */
const pagesOfDay = 500;

export type SiteRollups = ReturnType<typeof createSiteRollups>;

/** Keeps the figures of all sites. Any number of processes may do so at once. */
export function createSiteRollups(pool: Pool) {
  return {
    /** Counts pages that readers opened; those of a site that stores nothing about its readers do not count. */
    async countOpened(pages: OpenedPage[]): Promise<void> {
      await pool.query(
        `insert into site_facts (site_id, at, opened, version, language, opens)
         select sites.id, now(), given.path, version, language, times
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[]) as given (site_id, path, version, language, times)
         join sites on sites.id = given.site_id and retention_days > 0`,
        [
          pages.map(({ siteId }) => siteId),
          pages.map(({ path }) => toStoredText(path)),
          pages.map(({ version }) => toStoredText(version)),
          pages.map(({ language }) => toStoredText(language)),
          pages.map(({ times }) => times),
        ],
      );
    },

    /** Rolls up what has happened since the last time; a fact is counted by the transaction that deletes it. */
    add: (): Promise<void> => rollUpFacts(pool, 'site_facts', addSiteRollups('taken')),

    /** Deletes rollups that no query reads any more, and the rarest pages of the last days. */
    async sweep(): Promise<void> {
      for (const { seconds, kept } of siteRollupWidths)
        await deleteInBatches(
          pool,
          `delete from site_rollups where ctid = any(array(
             select ctid from site_rollups where seconds = ${seconds} and at < now() - interval '${kept}'
             order by at limit $1 for update skip locked
           ))`,
        );
      await deleteInBatches(
        pool,
        `delete from site_page_rollups where ctid = any(array(
           select ctid from site_page_rollups where day < now() - interval '400 days'
           order by day limit $1 for update skip locked
         ))`,
      );
      await deleteInBatches(
        pool,
        `delete from site_page_rollups where ctid = any(array(
           select ctid from (
             select ctid, row_number() over (partition by site_id, day order by cited + opened desc, path) as place
             from site_page_rollups
             where day >= date_bin('1 day', now(), 'epoch'::timestamptz) - interval '2 days'
               and day < date_bin('1 day', now(), 'epoch'::timestamptz)
           ) as ranked where place > ${pagesOfDay} limit $1
         ))`,
      );
    },
  };
}
