import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { toStoredText } from '../stored-text.ts';

interface EmptySearch {
  query: string;
  count: number;
  lastAt: Date;
}

/** Largest number of distinct searches that are stored per site and day. */
const maxPerDay = 1_000;
const maxQueryLength = 200;

export type EmptySearchStore = ReturnType<typeof createEmptySearchStore>;

/** Creates the store of searches without results. */
export function createEmptySearchStore(pool: Pool) {
  return {
    /** Counts a search without results; a site that stores nothing about its readers stores none. */
    async count({ id, organizationId }: SiteRef, query: string): Promise<void> {
      const text = toStoredText(query)
        .toLowerCase()
        .replaceAll(/\s+/g, ' ')
        .trim()
        .slice(0, maxQueryLength)
        .toWellFormed();
      await pool.query(
        `insert into empty_searches (site_id, day, query)
         select id, current_date, $2 from sites
         where id = $1 and organization_id = $4 and retention_days > 0
           and (select count(*) from empty_searches where site_id = $1 and day = current_date) < $3
         on conflict (site_id, day, query) do update set count = empty_searches.count + 1, last_at = now()`,
        [id, text, maxPerDay, organizationId],
      );
    },

    /** Returns the most frequent ones of the last days. */
    async list(
      { id, organizationId }: SiteRef,
      { days, limit }: { days: number; limit: number },
    ): Promise<EmptySearch[]> {
      const { rows } = await pool.query<EmptySearch>(
        `select query, sum(count)::integer as count, max(last_at) as "lastAt"
         from empty_searches join sites on sites.id = site_id
         where site_id = $1 and organization_id = $4 and day > current_date - $2::integer
         group by query order by sum(count) desc, max(last_at) desc, query limit $3`,
        [id, days, limit, organizationId],
      );
      return rows;
    },
  };
}
