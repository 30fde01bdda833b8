import type { Pool } from 'pg';
import { canBeId } from './ids.ts';
import { withTransaction } from './pool.ts';
import { toStoredText } from './stored-text.ts';

export type GapState = 'working' | 'indexing' | 'asking' | 'answered' | 'unanswered';

export interface GapQuestion {
  key: string;
  text: string;
  count: number;
  lastAskedAt: Date;
  answeredNow: boolean | null;
}

export interface GapRow {
  id: string;
  siteId: string;
  label: string;
  state: GapState;
  attempt: number;
  checkedAt: Date | null;
  createdAt: Date;
  job: {
    id: string;
    projectId: string;
    status: 'active' | 'completed' | 'failed' | 'archived';
    prLink: string | null;
    prState: 'open' | 'closed' | 'merged' | null;
  } | null;
  questions: GapQuestion[];
}

export interface NewGap {
  siteId: string;
  id: string;
  label: string;
  questions: Omit<GapQuestion, 'answeredNow'>[];
}

/** A gap whose questions this process asks again. */
export interface ClaimedGap {
  siteId: string;
  id: string;
  questions: { key: string; text: string }[];
}

export interface GapStore {
  /** The newest. */
  list(siteId: string, limit: number): Promise<GapRow[]>;
  find(siteId: string, id: string): Promise<GapRow | null>;
  /** Writes the gap, or goes on with the one that is there, with the job that answers it. */
  begin(gap: NewGap, job: { id: string; attempt: number }): Promise<void>;
  /** Writes the gap, or goes on with the one that is there: its site is indexed, then its questions are asked again. Of a site that is gone nothing is written. */
  recheck(gap: NewGap): Promise<void>;
  /** Asks for an index of the sites of gaps whose pull request was merged; answers how many gaps. */
  noteMerged(): Promise<number>;
  /** A gap whose site has been indexed since; null: none waits. Another process may take it after `seconds`. */
  claim(options: { seconds: number }): Promise<ClaimedGap | null>;
  /** Holds the gap for `seconds` more. */
  recordAnswer(ref: { siteId: string; gapId: string; key: string; answered: boolean; seconds: number }): Promise<void>;
  /** Ends the check of a gap whose questions have all been asked. */
  conclude(ref: { siteId: string; gapId: string }): Promise<void>;
}

/** Of one gap, those that were asked most. */
const mostQuestions = 50;

const gapColumns = `
  gaps.id, gaps.site_id as "siteId", label, state, attempt, checked_at as "checkedAt", gaps.created_at as "createdAt",
  case when jobs.id is not null then jsonb_build_object(
    'id', jobs.id, 'projectId', project_id, 'status', status, 'prLink', pr_link, 'prState', pr_state
  ) end as job`;

/** Gaps in the documentation of sites that somebody has begun to close. */
export function createGapStore(pool: Pool): GapStore {
  async function read(siteId: string, id: string | null, limit: number): Promise<GapRow[]> {
    const [gaps, questions] = await Promise.all([
      pool.query<Omit<GapRow, 'questions'>>(
        `select ${gapColumns} from gaps left join jobs on jobs.id = job_id
         where gaps.site_id = $1 and ($2::text is null or gaps.id = $2) order by gaps.created_at desc, gaps.id limit $3`,
        [siteId, id, limit],
      ),
      pool.query<GapQuestion & { gapId: string }>(
        `select listed.id as "gapId", key, text, count, last_asked_at as "lastAskedAt", answered_now as "answeredNow"
         from (select id from gaps where site_id = $1 and ($2::text is null or id = $2) order by created_at desc, id limit $3) as listed,
         lateral (select * from gap_questions where site_id = $1 and gap_id = listed.id order by count desc, key limit $4) as asked
         order by count desc, key`,
        [siteId, id, limit, mostQuestions],
      ),
    ]);
    const byGap = Map.groupBy(questions.rows, ({ gapId }) => gapId);
    return gaps.rows.map((gap) => ({
      ...gap,
      questions: (byGap.get(gap.id) ?? []).map(withoutGap),
    }));
  }

  async function write(gap: NewGap, next: { state: GapState; jobId: string | null; attempt: number | null }) {
    await withTransaction(pool, async (client) => {
      // the site before its gaps, in the order of whoever deletes them all
      const { rowCount } = await client.query('select from sites where id = $1 for no key update', [gap.siteId]);
      if (rowCount !== 1) return;
      await client.query(
        `insert into gaps (site_id, id, label, state, job_id, attempt) values ($1, $2, $3, $4, $5, coalesce($6, 0))
         on conflict (site_id, id) do update
         set state = excluded.state, job_id = coalesce(excluded.job_id, gaps.job_id), claimed_until = null,
             attempt = coalesce($6, gaps.attempt)`,
        [gap.siteId, gap.id, toStoredText(gap.label), next.state, next.jobId, next.attempt],
      );
      for (const { key, text, count, lastAskedAt } of gap.questions) {
        await client.query(
          `insert into gap_questions (site_id, gap_id, key, text, count, last_asked_at) values ($1, $2, $3, $4, $5, $6)
           on conflict (site_id, gap_id, key) do update
           set count = greatest(gap_questions.count, excluded.count),
               last_asked_at = greatest(gap_questions.last_asked_at, excluded.last_asked_at)`,
          [gap.siteId, gap.id, toStoredText(key), toStoredText(text), count, lastAskedAt],
        );
      }
      await client.query('update gap_questions set answered_now = null where site_id = $1 and gap_id = $2', [
        gap.siteId,
        gap.id,
      ]);
      if (next.state === 'indexing')
        await client.query('update sites set index_requested_at = now() where id = $1', [gap.siteId]);
    });
  }

  return {
    list: (siteId, limit) => read(siteId, null, limit),
    find: async (siteId, id) => (canBeId(id) ? ((await read(siteId, id, 1))[0] ?? null) : null),
    begin: (gap, job) => write(gap, { state: 'working', jobId: job.id, attempt: job.attempt }),
    recheck: (gap) => write(gap, { state: 'indexing', jobId: null, attempt: null }),

    async noteMerged() {
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

    async claim({ seconds }) {
      const { rows } = await pool.query<{ siteId: string; id: string; questions: ClaimedGap['questions'] }>(
        `with waiting as (
           select gaps.site_id, gaps.id from gaps join sites on sites.id = gaps.site_id
           where (state = 'asking' or (state = 'indexing' and index_requested_at is null and index_failure is null))
             and (claimed_until is null or claimed_until < now())
           order by gaps.created_at limit 1 for update of gaps skip locked
         )
         update gaps set state = 'asking', claimed_until = now() + $1::float8 * interval '1 second'
         from waiting where gaps.site_id = waiting.site_id and gaps.id = waiting.id
         returning gaps.site_id as "siteId", gaps.id, (
           select coalesce(jsonb_agg(jsonb_build_object('key', key, 'text', text) order by count desc, key), '[]')
           from gap_questions where gap_questions.site_id = gaps.site_id and gap_id = gaps.id and answered_now is null
         ) as questions`,
        [seconds],
      );
      return rows[0] ?? null;
    },

    async recordAnswer({ siteId, gapId, key, answered, seconds }) {
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

    async conclude({ siteId, gapId }) {
      await pool.query(
        `update gaps set checked_at = now(), claimed_until = null,
           state = case when exists (
             select from gap_questions where site_id = $1 and gap_id = $2 and answered_now is distinct from true
           ) then 'unanswered' else 'answered' end
         where site_id = $1 and id = $2 and state = 'asking'`,
        [siteId, gapId],
      );
    },
  };
}

function withoutGap(row: GapQuestion & { gapId: string }): GapQuestion {
  const { gapId: _, ...question } = row;
  return question;
}
