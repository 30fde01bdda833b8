import type { Pool } from 'pg';

/** Deletes of what has outlived its time, in all organizations. */
export interface Sweeps {
  /** Conversations older than their site's retention; answers how many. */
  threads(): Promise<number>;
  emptySearches(): Promise<void>;
  replies(): Promise<void>;
  /** Sessions and sign-in links. */
  sessions(): Promise<void>;
}

const threadBatch = 1_000;

const threadStatement = `
  with old as materialized (
    select threads.id from threads join sites on sites.id = threads.site_id
    where threads.updated_at < now() - make_interval(days => sites.retention_days)
    limit $1
    for update of threads skip locked
  )
  delete from threads using old where threads.id = old.id`;

export function createSweeps(pool: Pool): Sweeps {
  return {
    /** In batches: each is a short transaction, and a thread that is being continued is left alone. */
    async threads() {
      let removed = 0;
      for (;;) {
        const { rowCount } = await pool.query(threadStatement, [threadBatch]);
        removed += rowCount ?? 0;
        if ((rowCount ?? 0) < threadBatch) return removed;
      }
    },

    async emptySearches() {
      await pool.query(
        `delete from empty_searches using sites
         where sites.id = site_id and day < current_date - least(sites.retention_days, 365)`,
      );
    },

    async replies() {
      await pool.query(
        `with old as materialized (
           select id from replies where delete_after < now() and heartbeat_at < now() - interval '1 minute' for update skip locked
         )
         delete from replies using old where replies.id = old.id`,
      );
    },

    async sessions() {
      await pool.query(`delete from sessions where expires_at < now() - interval '1 day'`);
      await pool.query('delete from sign_in_links where expires_at < now()');
    },
  };
}
