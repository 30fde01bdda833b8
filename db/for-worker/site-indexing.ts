import type { Pool } from 'pg';
import { canBeId } from '../ids.ts';
import type { SetQuestion } from '../sites/question-sets.ts';
import { siteColumns, type SiteRow } from '../sites/sites.ts';
import { toStoredText } from '../stored-text.ts';

interface IndexRequest {
  siteId: string;
  organizationId: string;
}

/** Questions that a new index must answer about as well as the current one. */
export interface IndexGuard {
  setName: string;
  questions: SetQuestion[];
  /** Share of the questions by which it may be worse, from 0 to 1. */
  margin: number;
  /** URL of the published site. */
  baseUrl: string | null;
}

/** Category of the failure of a site whose new index is worse than its guard allows. */
export const worseIndex = 'site_worse';

export type SiteIndexing = ReturnType<typeof createSiteIndexing>;

/** Finds sites for the worker: by a workflow's id, or all of them. */
export function createSiteIndexing(pool: Pool) {
  return {
    async get(id: string): Promise<SiteRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<SiteRow>(`select ${siteColumns} from sites where id = $1`, [id]);
      return rows[0] ?? null;
    },

    async listAll(): Promise<SiteRow[]> {
      const { rows } = await pool.query<SiteRow>(`select ${siteColumns} from sites order by created_at, id`);
      return rows;
    },

    /** Requests an index; a pending request is replaced. */
    async requestIndex(id: string): Promise<void> {
      await pool.query('update sites set index_requested_at = now() where id = $1', [id]);
    },

    /** Begins a run, and returns the id of the pending request; null when there is none. */
    async startIndexRun(id: string): Promise<string | null> {
      const { rows } = await pool.query<{ request: string | null }>(
        'update sites set index_attempts = 0 where id = $1 returning index_requested_at::text as request',
        [id],
      );
      return rows[0]?.request ?? null;
    },

    /** Counts an attempt of the run, and returns how many it has had. */
    async countIndexAttempt(id: string): Promise<number> {
      const { rows } = await pool.query<{ attempts: number }>(
        'update sites set index_attempts = index_attempts + 1 where id = $1 returning index_attempts as attempts',
        [id],
      );
      return rows[0]?.attempts ?? 0;
    },

    /** Returns the guard of a site's index; null when it has none, or when the pending request is forced. */
    async readGuard(id: string): Promise<IndexGuard | null> {
      const { rows } = await pool.query<IndexGuard>(
        `select question_sets.name as "setName", questions, coalesce(guard_margin, 0) as margin, base_url as "baseUrl"
         from sites join question_sets on question_sets.id = guard_set_id and site_id = sites.id
         where sites.id = $1 and not index_forced`,
        [id],
      );
      return rows[0] ?? null;
    },

    /** Removes a request that has been fulfilled; a newer one stays. */
    async answerIndexRequest(id: string, request: string): Promise<void> {
      await pool.query(
        'update sites set index_requested_at = null, index_forced = false where id = $1 and index_requested_at = $2::timestamptz',
        [id, request],
      );
    },

    /** Returns sites with a pending request: the oldest of each organization, then the next of each. */
    async listIndexRequests(limit: number): Promise<IndexRequest[]> {
      const { rows } = await pool.query<IndexRequest>({
        name: 'index-requests',
        text: `
          select id as "siteId", organization_id as "organizationId" from sites where index_requested_at is not null
          order by row_number() over (partition by organization_id order by index_requested_at), index_requested_at
          limit $1`,
        values: [limit],
      });
      return rows;
    },

    /** Requests an index of every site whose current one has an older format than this. */
    async requestOutdated(format: number): Promise<void> {
      // another build of content that the site's guard refused would be refused, too
      await pool.query(
        `update sites set index_requested_at = now()
         from site_indexes as serving
         where serving.site_id = sites.id and serving.version = sites.index_version and serving.format < $1
           and sites.index_requested_at is null and sites.index_failure is distinct from $2`,
        [format, worseIndex],
      );
    },

    /** Records a failure unless its request was answered meanwhile; a failure without a request is always recorded. */
    async recordIndexFailure(
      id: string,
      failure: { request: string | null; category: string; message: string },
    ): Promise<void> {
      await pool.query(
        `update sites set index_failure = $2, index_failure_message = $3
         where id = $1 and ($4::timestamptz is null or index_requested_at >= $4::timestamptz)`,
        [id, failure.category, toStoredText(failure.message), failure.request],
      );
    },
  };
}
