import type { Pool } from 'pg';

/** A gap whose questions this process asks again. */
export interface ClaimedGap {
  siteId: string;
  organizationId: string;
  domain: string;
  id: string;
  questions: { key: string; text: string }[];
}

export type GapCheckStore = ReturnType<typeof createGapCheckStore>;

/** Gaps under way, as the API's processes share the work on them. */
export function createGapCheckStore(pool: Pool) {
  return {
    /** Requests an index for the sites of gaps whose pull request was merged; returns how many gaps. */
    async noteMerged(): Promise<number> {
      const { rows } = await pool.query<{ count: number }>(
        `with held as materialized (
           select id from sites
           where id in (select site_id from gaps join jobs on jobs.id = job_id
                        where gaps.state = 'working' and jobs.pr_state = 'merged')
           order by id for no key update
         ), merged as (
           update gaps set state = 'indexing' from jobs, held
           where jobs.id = job_id and gaps.state = 'working' and jobs.pr_state = 'merged' and gaps.site_id = held.id
           returning gaps.site_id
         ), asked as (
           update sites set index_requested_at = now() where id in (select site_id from merged)
         )
         select count(*)::integer as count from merged`,
      );
      return rows[0]?.count ?? 0;
    },

    /**
     * Claims a gap whose site has been indexed since, of the next organization after `after`, or of the first; null when
     * there is none. The claim expires after `seconds`.
     */
    async claim({ seconds, after }: { seconds: number; after: string }): Promise<ClaimedGap | null> {
      const { rows } = await pool.query<ClaimedGap>(
        `with waiting as (
           select gaps.site_id, gaps.id, organization_id, domain from gaps join sites on sites.id = gaps.site_id
           where (state = 'asking' or (state = 'indexing' and index_requested_at is null and index_failure is null))
             and (claimed_until is null or claimed_until < now())
           order by organization_id <= $2, organization_id, gaps.created_at limit 1 for update of gaps skip locked
         )
         update gaps set state = 'asking', claimed_until = now() + $1::float8 * interval '1 second'
         from waiting where gaps.site_id = waiting.site_id and gaps.id = waiting.id
         returning gaps.site_id as "siteId", waiting.organization_id as "organizationId", waiting.domain, gaps.id, (
           select coalesce(jsonb_agg(jsonb_build_object('key', key, 'text', text) order by count desc, key), '[]')
           from gap_questions where gap_questions.site_id = gaps.site_id and gap_id = gaps.id and answered_now is null
         ) as questions`,
        [seconds, after],
      );
      return rows[0] ?? null;
    },

    /** Records the answer to a question, and claims the gap for `seconds` more. */
    async recordAnswer(ref: {
      siteId: string;
      gapId: string;
      key: string;
      answered: boolean;
      seconds: number;
    }): Promise<void> {
      const { siteId, gapId, key, answered, seconds } = ref;
      await pool.query(
        `with held as (
           update gaps set claimed_until = now() + $5::float8 * interval '1 second'
           where site_id = $1 and id = $2 and state = 'asking'
           returning id
         )
         update gap_questions set answered_now = $4 from held where site_id = $1 and gap_id = held.id and key = $3`,
        [siteId, gapId, key, answered, seconds],
      );
    },

    /** Ends the check of a gap. No effect while questions are unanswered, such as those of a newer check. */
    async conclude({ siteId, gapId }: { siteId: string; gapId: string }): Promise<void> {
      await pool.query(
        `update gaps set checked_at = now(), claimed_until = null,
           state = case when exists (
             select from gap_questions where site_id = $1 and gap_id = $2 and answered_now is distinct from true
           ) then 'unanswered' else 'answered' end
         where site_id = $1 and id = $2 and state = 'asking' and not exists (
           select from gap_questions where site_id = $1 and gap_id = $2 and answered_now is null
         )`,
        [siteId, gapId],
      );
    },
  };
}
