import type { Pool } from 'pg';
import type { JobStatus } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { actorOf, isByActor, type Actor } from '../organizations/actors.ts';
import { canBeId, isId } from '../ids.ts';
import { jobColumns, newestJobs, orderBy, type JobOrder } from './job-statements.ts';
import { pullRequestStateOf, stateOf, statusesOf, type JobState, type PullRequestFilter } from './job-states.ts';
import type { JobRow } from './jobs.ts';
import { cursorOf, decodeCursor, pageOf } from '../page-cursor.ts';
import { readWithin } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

export interface ListedJobRow extends JobRow {
  /** Beginning of the job's first prompt. */
  prompt: string;
  /** Size of the published change; null before it is published. Lines are null if they were not counted. */
  change: { files: number; additions: number | null; deletions: number | null } | null;
  /** When the newest turn was requested; null when the job has ended. */
  activeSince: Date | null;
  /** Null when the audit log does not have it. */
  startedBy: Actor | null;
  /** Microseconds since 1970, as text: a Date would lose precision of the sort key. */
  updatedMicros: string;
}

interface JobListQuery {
  /** Empty for any. */
  statuses: JobStatus[];
  /** Empty for any. */
  states?: JobState[];
  projectId?: string;
  model?: string;
  /** Category of the failure. */
  failure?: string;
  /** State of the pull request; any: only jobs that have one. */
  pullRequest?: PullRequestFilter;
  /** Name of the person or key that started the job. */
  startedBy?: string;
  /** Only jobs created at or after this time. */
  createdSince?: Date;
  order?: JobOrder;
  /** A job id, which returns only that job; otherwise a case-insensitive part of the title, prompt, repository or branch. */
  search?: string;
  limit: number;
  cursor?: string;
}

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text`;
const timeOf = (parameter: string) => `'epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond'`;

const creation = { organization: 'jobs.organization_id', subject: 'jobs.id', at: 'jobs.created_at' };

const listedColumns = `${jobColumns},
  (select left(job_turns.prompt, 300) from job_turns where job_turns.job_id = jobs.id and job_turns.turn = 1) as prompt,
  (select jsonb_build_object('files', changed_files, 'additions', additions, 'deletions', deletions)
   from job_snapshots where job_id = jobs.id and tree = jobs.head_tree) as change,
  case when status = 'active' then (
    select job_turns.created_at from job_turns where job_turns.job_id = jobs.id and job_turns.turn = jobs.turn
  ) end as "activeSince",
  ${actorOf(creation)} as "startedBy",
  ${micros('updated_at')} as "updatedMicros"`;

/** Largest number of jobs that one page of a filtered list reads. */
const maxScanned = 5_000;

/** Conditions that no index can evaluate. */
const fits = `($7::text[] is null or ${stateOf} = any($7)) and ($8::text is null or model = $8)
  and ($9::text is null or failure_category = $9)
  and ($10::text is null or pr_link is not null and $10 in ('any', ${pullRequestStateOf}))
  and ($11::text is null or ${isByActor(creation, '$11')})`;
const matches = `($12::text is null or title ilike $12 or repository ilike $12 or branch ilike $12 or exists (
    -- the offset keeps the planner from hashing the turns of all jobs
    select from job_turns where job_turns.job_id = jobs.id and job_turns.prompt ilike $12 offset 0
  ))`;

/** Conditions of a changed job; an index on updated_at would make each step of a job write to all indexes of its row. */
const isChanged = (time: string) => `
  organization_id = $1 and ($2::text is null or project_id = $2) and (${time}, id) > (${timeOf('$3')}, $4::text)`;

export type JobListStore = ReturnType<typeof createJobListStore>;

/** Creates the store of job lists of an organization. */
export function createJobListStore(pool: Pool) {
  return {
    /** Newest first unless the query says otherwise. Throws InvalidCursorError. */
    async list(
      { organizationId }: Owner,
      { search, limit, cursor, order = 'newest', ...query }: JobListQuery,
    ): Promise<{ jobs: ListedJobRow[]; nextCursor: string | null }> {
      const { projectId, states = [] } = query;
      const after = cursor === undefined ? null : decodeCursor(cursor);
      if (projectId !== undefined && !canBeId(projectId)) return { jobs: [], nextCursor: null };
      const statuses = statusesIn(states, query.statuses);
      if (statuses?.length === 0) return { jobs: [], nextCursor: null };
      const isPlain =
        states.every((state) => state === 'completed' || state === 'archived') &&
        [search, query.model, query.failure, query.pullRequest, query.startedBy].every(
          (filter) => filter === undefined,
        );
      const scanned = newestJobs(
        isPlain ? limit + 1 : maxScanned,
        order,
        '($6::timestamptz is null or created_at >= $6)',
      );
      const where = [
        organizationId,
        statuses,
        projectId ?? null,
        after?.createdMicros ?? null,
        after?.id ?? null,
        query.createdSince ?? null,
      ];
      const fitting = [
        states.length === 0 ? null : states,
        query.model ?? null,
        query.failure ?? null,
        query.pullRequest ?? null,
        query.startedBy === undefined ? null : toStoredText(query.startedBy),
      ];
      return readWithin(pool, 'search', async (client) => {
        if (search !== undefined && after === null && isId('job_', search)) {
          const found = await client.query<ListedJobRow>(
            `select ${listedColumns} from jobs
             where organization_id = $1 and ($2::text[] is null or status = any($2))
               and ($3::text is null or project_id = $3) and ($6::timestamptz is null or created_at >= $6)
               and ${fits} and id = $12
               -- parameters of the cursor, which the first page does not have
               and $4::bigint is null and $5::text is null`,
            [...where, ...fitting, search],
          );
          if (found.rows.length > 0) return { jobs: found.rows, nextCursor: null };
        }
        const { rows } = await client.query<ListedJobRow & { createdMicros: string }>(
          `select ${listedColumns}, ${micros('created_at')} as "createdMicros"
           from (${scanned}) as jobs where ${fits} and ${matches} order by ${orderBy(order)} limit $13`,
          [...where, ...fitting, search === undefined ? null : patternOf(search), limit + 1],
        );
        const { rows: jobs, nextCursor } = pageOf(rows, limit);
        if (nextCursor !== null || isPlain) return { jobs, nextCursor };
        // the next page continues where this one stopped reading
        const stopped = await client.query<{ id: string; createdMicros: string }>(
          `select id, ${micros('created_at')} as "createdMicros" from (${scanned}) as jobs offset ${maxScanned - 1} limit 1`,
          where,
        );
        return { jobs, nextCursor: cursorOf(stopped.rows[0]) };
      });
    },

    /** Returns jobs that were created or changed after a time (in microseconds), in the order of their last change. */
    async listChanged(
      { organizationId }: Owner,
      { projectId, after, limit }: { projectId?: string; after: { updatedMicros: string; id: string }; limit: number },
    ): Promise<ListedJobRow[]> {
      const { rows } = await pool.query<ListedJobRow>({
        name: 'list-changed-jobs',
        text: `
          select ${listedColumns} from (
            select * from (
              select * from jobs where ${isChanged('updated_at')} and status = 'active' order by updated_at, id limit $5
            ) as active
            union all
            select * from (
              select * from jobs where ${isChanged('settled_at')} and settled_at is not null order by settled_at, id limit $5
            ) as settled
          ) as jobs
          order by updated_at, id limit $5`,
        values: [organizationId, projectId ?? null, after.updatedMicros, after.id, limit],
      });
      return rows;
    },

    /** Returns the database's time in microseconds since 1970. */
    async nowMicros(): Promise<string> {
      const { rows } = await pool.query<{ now: string }>(`select ${micros('now()')} as now`);
      return rows[0]?.now ?? '0';
    },
  };
}

/** Returns the statuses to read for some states within some statuses; null for any. An empty list is no restriction. */
function statusesIn(states: JobState[], statuses: JobStatus[]): JobStatus[] | null {
  const ofStates = statusesOf(states);
  if (states.length === 0) return statuses.length === 0 ? null : statuses;
  return statuses.length === 0 ? ofStates : ofStates.filter((status) => statuses.includes(status));
}

/** Matches a text literally: `%` and `_` are escaped. */
function patternOf(text: string): string {
  return `%${toStoredText(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
}
