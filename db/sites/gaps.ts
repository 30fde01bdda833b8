import type { Pool, PoolClient } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, SiteRef } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { writeJob, type CreatedJob, type NewJob } from '../jobs/jobs.ts';
import { wakeWatchers } from '../jobs/wake-watchers.ts';
import { withTransaction } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

/** A dismissed gap keeps the state that it returns to, and work on it continues. */
export type GapState = 'open' | 'working' | 'indexing' | 'asking' | 'answered' | 'unanswered' | 'dismissed';

export interface GapQuestion {
  key: string;
  text: string;
  count: number;
  lastAskedAt: Date;
  answeredNow: boolean | null;
  /** Number of answers that the documentation had none, and that readers voted down; null if not known. */
  notFound: number | null;
  votedDown: number | null;
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

type StartedJob = Extract<CreatedJob, { kind: 'created' }>;

interface Change {
  /** Without it, work on the gap continues. */
  state?: Exclude<GapState, 'dismissed'>;
  action: string;
  attempt?: number;
  jobId?: string;
  isDismissed?: boolean;
}

/** The most frequent questions of a gap. */
const maxQuestions = 50;

const gapColumns = `
  gaps.id, gaps.site_id as "siteId", label, case when dismissed_at is null then state else 'dismissed' end as state, attempt, checked_at as "checkedAt", gaps.created_at as "createdAt",
  case when jobs.id is not null then jsonb_build_object(
    'id', jobs.id, 'projectId', jobs.project_id, 'status', jobs.status, 'prLink', pr_link, 'prState', pr_state
  ) end as job`;

export type GapStore = ReturnType<typeof createGapStore>;

/** Creates the store of documentation gaps that someone has started to close, or dismissed. */
export function createGapStore(pool: Pool) {
  /** Reads gaps and their questions at one moment: a gap without its questions would look as if it were still open. */
  async function read({ id: siteId, organizationId }: SiteRef, id: string | null, limit: number): Promise<GapRow[]> {
    const { rows } = await pool.query<GapRow>(
      `select ${gapColumns}, coalesce(asked.questions, '[]') as questions
       from gaps join sites on sites.id = site_id left join jobs on jobs.id = job_id
       left join lateral (
         select jsonb_agg(jsonb_build_object(
           'key', key, 'text', text, 'count', count, 'lastAskedAt', last_asked_at, 'answeredNow', answered_now,
           'notFound', not_found, 'votedDown', voted_down
         ) order by count desc, key) as questions
         from (
           select * from gap_questions where gap_questions.site_id = $1 and gap_id = gaps.id
           order by count desc, key limit $5
         ) as most
       ) as asked on true
       where gaps.site_id = $1 and sites.organization_id = $2 and ($3::text is null or gaps.id = $3)
       order by gaps.created_at desc, gaps.id limit $4`,
      [siteId, organizationId, id, limit, maxQuestions],
    );
    return rows.map((gap) => ({
      ...gap,
      questions: gap.questions.map((question) => ({ ...question, lastAskedAt: new Date(question.lastAskedAt) })),
    }));
  }

  /**
   * Locks the site, lets `decide` determine how the gap changes, and stores it. Null without the site, or without a
   * change.
   */
  function write<Next extends Change>(
    caller: Caller,
    gap: NewGap,
    decide: (client: PoolClient) => Promise<Next | null>,
  ): Promise<Next | null> {
    return withTransaction(pool, async (client) => {
      // locks the site before its gaps, in the order of the statement that deletes them all
      const { rows } = await client.query<{ domain: string }>(
        'select domain from sites where id = $1 and organization_id = $2 for no key update',
        [gap.siteId, caller.organizationId],
      );
      const [site] = rows;
      const next = site === undefined ? null : await decide(client);
      if (site === undefined || next === null) return null;
      const { state = null, action, attempt = null, jobId = null, isDismissed = false } = next;
      await client.query(
        `insert into gaps (site_id, id, label, state, job_id, attempt, dismissed_at)
         values ($1, $2, $3, coalesce($4, 'open'), $5, coalesce($6, 0), case when $7 then now() end)
         on conflict (site_id, id) do update
         set state = coalesce($4, gaps.state), job_id = coalesce(excluded.job_id, gaps.job_id),
             claimed_until = case when $4 is null then gaps.claimed_until end,
             attempt = coalesce($6, gaps.attempt), dismissed_at = excluded.dismissed_at`,
        [gap.siteId, gap.id, toStoredText(gap.label), state, jobId, attempt, isDismissed],
      );
      for (const { key, text, count, lastAskedAt, notFound, votedDown } of gap.questions) {
        await client.query(
          `insert into gap_questions (site_id, gap_id, key, text, count, last_asked_at, not_found, voted_down)
           values ($1, $2, $3, $4, $5, $6, $7, $8)
           on conflict (site_id, gap_id, key) do update
           set count = greatest(gap_questions.count, excluded.count),
               last_asked_at = greatest(gap_questions.last_asked_at, excluded.last_asked_at),
               not_found = greatest(gap_questions.not_found, excluded.not_found),
               voted_down = greatest(gap_questions.voted_down, excluded.voted_down)`,
          [gap.siteId, gap.id, toStoredText(key), toStoredText(text), count, lastAskedAt, notFound, votedDown],
        );
      }
      if (state !== null)
        await client.query('update gap_questions set answered_now = null where site_id = $1 and gap_id = $2', [
          gap.siteId,
          gap.id,
        ]);
      if (state === 'indexing')
        await client.query('update sites set index_requested_at = now() where id = $1', [gap.siteId]);
      const details = { site: site.domain, ...(jobId !== null && { jobId }) };
      await writeAudit(client, caller, { action, subject: gap.id, details });
      return next;
    });
  }

  /**
   * Creates or continues a gap with a job that answers it, in one transaction. Null when an attempt was started
   * meanwhile, or the site or the project is gone. Throws AllowanceError.
   */
  async function begin(
    caller: Caller,
    gap: NewGap,
    { number, job }: { number: number; job: NewJob },
  ): Promise<StartedJob | null> {
    const begun = await write(caller, gap, async (client) => {
      const { rowCount } = await client.query('select from gaps where site_id = $1 and id = $2 and attempt >= $3', [
        gap.siteId,
        gap.id,
        number,
      ]);
      const created = rowCount === 0 ? await writeJob(client, caller, job) : null;
      if (created?.kind !== 'created') return null;
      return { state: 'working' as const, action: 'gap.job', attempt: number, jobId: job.id, created };
    });
    if (begun !== null) wakeWatchers(pool, job.id);
    return begun?.created ?? null;
  }

  /**
   * Creates or continues a gap: its site is indexed, then its questions are asked again. Does nothing when the site was deleted.
   */
  async function recheck(caller: Caller, gap: NewGap): Promise<void> {
    await write(caller, gap, async () => ({ state: 'indexing', action: 'gap.check' }));
  }

  async function setDismissed(caller: Caller, gap: NewGap, isDismissed: boolean): Promise<void> {
    await write(caller, gap, async (client) => {
      const { rowCount } = await client.query(
        'select from gaps where site_id = $1 and id = $2 and dismissed_at is not null',
        [gap.siteId, gap.id],
      );
      if ((rowCount === 1) === isDismissed) return null;
      return { action: isDismissed ? 'gap.dismiss' : 'gap.restore', isDismissed };
    });
  }

  return {
    /** The newest. */
    list: (site: SiteRef, limit: number): Promise<GapRow[]> => read(site, null, limit),
    find: async (site: SiteRef, id: string): Promise<GapRow | null> =>
      canBeId(id) ? ((await read(site, id, 1))[0] ?? null) : null,
    begin,
    recheck,
    /** Dismisses a gap. No effect when it is dismissed, or the site is gone. */
    dismiss: (caller: Caller, gap: NewGap): Promise<void> => setDismissed(caller, gap, true),
    /** Undoes the dismissal of a gap. No effect when it is not dismissed, or the site is gone. */
    restore: (caller: Caller, gap: NewGap): Promise<void> => setDismissed(caller, gap, false),
  };
}
