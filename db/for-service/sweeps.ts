import type { Pool } from 'pg';
import { deleteInBatches } from '../delete-in-batches.ts';

/** Deletes expired data in all organizations. */
export interface Sweeps {
  /** Conversations older than their site's retention; returns how many. */
  threads(): Promise<number>;
  emptySearches(): Promise<void>;
  replies(): Promise<void>;
  /** Sessions and sign-in links. */
  sessions(): Promise<void>;
}

const threadStatement = `
  with old as materialized (
    select of_site.id from sites, lateral (
      select id from threads
      where site_id = sites.id and updated_at < now() - make_interval(days => sites.retention_days)
      order by updated_at limit $1 for update skip locked
    ) as of_site limit $1
  )
  delete from threads where id = any(array(select id from old))`;

export function createSweeps(pool: Pool): Sweeps {
  return {
    threads: () => deleteInBatches(pool, threadStatement),

    async emptySearches() {
      await deleteInBatches(
        pool,
        `delete from empty_searches where ctid = any(array(
           select of_site.ctid from sites, lateral (
             select ctid from empty_searches
             where site_id = sites.id and day < current_date - least(sites.retention_days, 365)
             limit $1 for update skip locked
           ) as of_site limit $1
         ))`,
      );
    },

    async replies() {
      await deleteInBatches(
        pool,
        `delete from replies where id = any(array(
           select id from replies where delete_after < now() and heartbeat_at < now() - interval '1 minute'
           order by delete_after limit $1 for update skip locked
         ))`,
      );
    },

    async sessions() {
      await deleteInBatches(
        pool,
        `delete from sessions where id = any(array(
           select id from sessions where expires_at < now() - interval '1 day' order by expires_at limit $1 for update skip locked
         ))`,
      );
      await deleteInBatches(
        pool,
        `delete from sign_in_links where digest = any(array(
           select digest from sign_in_links where expires_at < now() order by expires_at limit $1 for update skip locked
         ))`,
      );
    },
  };
}
