import type { Pool } from 'pg';
import type { SiteRef } from '../caller.ts';
import { createAnswerSpendingStore, type AnswerReservation } from '../sites/answer-spending.ts';
import { deleteInBatches } from '../delete-in-batches.ts';

const threadStatement = `
  with old as materialized (
    select of_site.id from sites, lateral (
      select id from threads
      where site_id = sites.id and updated_at < now() - make_interval(days => sites.retention_days)
      order by updated_at limit $1 for update skip locked
    ) as of_site limit $1
  )
  delete from threads where id = any(array(select id from old))`;

/** Removes expired data in all organizations. */
export function createSweeps(pool: Pool) {
  const spending = createAnswerSpendingStore(pool);
  return {
    /** Conversations older than their site's retention; returns how many. */
    threads: (): Promise<number> => deleteInBatches(pool, threadStatement),

    async emptySearches(): Promise<void> {
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

    async replies(): Promise<void> {
      await deleteInBatches(
        pool,
        `delete from replies where id = any(array(
           select id from replies where delete_after < now() and heartbeat_at < now() - interval '1 minute'
           order by delete_after limit $1 for update skip locked
         ))`,
      );
    },

    /** Reservations of model calls whose process was killed, at what a lost call costs. */
    async answerHolds(): Promise<void> {
      const { rows } = await pool.query<AnswerReservation & SiteRef & { siteId: string }>(
        `select id::text, site_id as "siteId", organization_id as "organizationId", day::text,
                lost_micros::float8 as "lostMicros"
         from answer_holds where expires_at < now() order by expires_at limit 1000`,
      );
      for (const { siteId: id, organizationId, ...reservation } of rows)
        await spending.settle({ id, organizationId }, reservation, reservation.lostMicros);
    },

    /** Sessions and sign-in links. */
    async sessions(): Promise<void> {
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
