import type { Pool } from 'pg';
import type { JobStatus } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { canBeId, isId } from '../ids.ts';
import { jobColumns, newestJobs } from './job-statements.ts';
import type { JobRow } from './jobs.ts';
import { cursorOf, decodeCursor, pageOf } from '../page-cursor.ts';
import { readWithin } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

export interface ListedJobRow extends JobRow {
  /** Beginning of the job's first prompt. */
  prompt: string;
  /** Microseconds since 1970, as text: a Date would lose precision of the sort key. */
  updatedMicros: string;
}

export interface JobListQuery {
  /** Empty for any. */
  statuses: JobStatus[];
  projectId?: string;
  /** A job id, which returns only that job; otherwise a case-insensitive part of the title, prompt, repository or branch. */
  search?: string;
  limit: number;
  cursor?: string;
}

export interface JobListStore {
  /** Newest first. Throws InvalidCursorError. */
  list(owner: Owner, query: JobListQuery): Promise<{ jobs: ListedJobRow[]; nextCursor: string | null }>;
  /** Returns jobs that were created or changed after a time (in microseconds), in the order of their last change. */
  listChanged(
    owner: Owner,
    query: { projectId?: string; after: { updatedMicros: string; id: string }; limit: number },
  ): Promise<ListedJobRow[]>;
  /** Returns the database's time in microseconds since 1970. */
  nowMicros(): Promise<string>;
}

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text`;
const timeOf = (parameter: string) => `'epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond'`;

const listedColumns = `${jobColumns},
  (select left(job_turns.prompt, 300) from job_turns where job_turns.job_id = jobs.id and job_turns.turn = 1) as prompt,
  ${micros('updated_at')} as "updatedMicros"`;

/** Largest number of jobs that one page of a search reads. */
const mostLookedAt = 5_000;

/** Creates the store of job lists of an organization. */
export function createJobListStore(pool: Pool): JobListStore {
  return {
    async list({ organizationId }, { statuses, projectId, search, limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      if (projectId !== undefined && !canBeId(projectId)) return { jobs: [], nextCursor: null };
      const looked = newestJobs(search === undefined ? limit + 1 : mostLookedAt);
      const where = [
        organizationId,
        statuses.length === 0 ? null : statuses,
        projectId ?? null,
        after?.createdMicros ?? null,
        after?.id ?? null,
      ];
      return readWithin(pool, 'search', async (client) => {
        if (search !== undefined && after === null && isId('job_', search)) {
          const found = await client.query<ListedJobRow>(
            `select ${listedColumns} from jobs
             where organization_id = $1 and ($2::text[] is null or status = any($2))
               and ($3::text is null or project_id = $3) and id = $4`,
            [...where.slice(0, 3), search],
          );
          if (found.rows.length > 0) return { jobs: found.rows, nextCursor: null };
        }
        const { rows } = await client.query<ListedJobRow & { createdMicros: string }>(
          `select ${listedColumns}, ${micros('created_at')} as "createdMicros"
           from (${looked}) as jobs
           where ($6::text is null or title ilike $6 or repository ilike $6 or branch ilike $6 or exists (
             -- the offset keeps the planner from hashing the turns of all jobs
             select from job_turns where job_turns.job_id = jobs.id and job_turns.prompt ilike $6 offset 0
           ))
           order by created_at desc, id desc limit $7`,
          [...where, search === undefined ? null : patternOf(search), limit + 1],
        );
        const { rows: jobs, nextCursor } = pageOf(rows, limit);
        if (nextCursor !== null || search === undefined) return { jobs, nextCursor };
        // the next page continues where this one stopped reading
        const stopped = await client.query<{ id: string; createdMicros: string }>(
          `select id, ${micros('created_at')} as "createdMicros" from (${looked}) as jobs offset ${mostLookedAt - 1} limit 1`,
          where,
        );
        return { jobs, nextCursor: cursorOf(stopped.rows[0]) };
      });
    },

    async listChanged({ organizationId }, { projectId, after, limit }) {
      const { rows } = await pool.query<ListedJobRow>({
        name: 'list-changed-jobs',
        text: `
          select ${listedColumns} from jobs
          where organization_id = $1 and ($2::text is null or project_id = $2)
            and (updated_at, id) > (${timeOf('$3')}, $4::text)
          order by updated_at, id limit $5`,
        values: [organizationId, projectId ?? null, after.updatedMicros, after.id, limit],
      });
      return rows;
    },

    async nowMicros() {
      const { rows } = await pool.query<{ now: string }>(`select ${micros('now()')} as now`);
      return rows[0]?.now ?? '0';
    },
  };
}

/** Matches a text literally: `%` and `_` are escaped. */
function patternOf(text: string): string {
  return `%${toStoredText(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
}
