import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';

export type IndexChangeStore = ReturnType<typeof createIndexChangeStore>;

/** Tells an API process which of the indexes that it serves have been replaced, in one statement for all of them. */
export function createIndexChangeStore(pool: Pool) {
  return {
    /** Returns the sites whose current version differs, and those that no longer exist. Version 0 means no index. */
    async changed(known: readonly (SiteRef & { version: number })[]): Promise<SiteRef[]> {
      if (known.length === 0) return [];
      const { rows } = await pool.query<SiteRef>({
        name: 'changed-indexes',
        text: `
          select known.id, known."organizationId"
          from unnest($1::text[], $2::text[], $3::integer[]) as known (id, "organizationId", version)
          left join sites on sites.id = known.id and organization_id = known."organizationId"
          where index_version is distinct from version`,
        values: [
          known.map(({ id }) => id),
          known.map((one) => one.organizationId),
          known.map(({ version }) => version),
        ],
      });
      return rows;
    },
  };
}
