import type { Pool } from 'pg';
import type { JobStatus } from '../../workflows/contract/job.ts';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { jobColumns } from './job-statements.ts';
import type { JobRow } from './jobs.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { readWithin } from '../pool.ts';
import { toStoredText } from '../stored-text.ts';

export interface ListedJobRow extends JobRow {
  /** The beginning of the job's first prompt. */
  prompt: string;
  /** Microseconds since 1970, as text: a Date would cut what the database orders by. */
  updatedMicros: string;
}

export interface JobListQuery {
  /** Empty: any. */
  statuses: JobStatus[];
  projectId?: string;
  /** Found in title, prompt, repository and branch, or the id itself; case does not matter. */
  search?: string;
  limit: number;
  cursor?: string;
}

export interface JobListStore {
  /** Newest first. Throws InvalidCursorError. */
  list(owner: Owner, query: JobListQuery): Promise<{ jobs: ListedJobRow[]; nextCursor: string | null }>;
  /** Jobs that were made or changed after a moment (in microseconds), in the order of their last change. */
  listChanged(
    owner: Owner,
    query: { projectId?: string; after: { updatedMicros: string; id: string }; limit: number },
  ): Promise<ListedJobRow[]>;
  /** The database's time in microseconds since 1970. */
  nowMicros(): Promise<string>;
}

const micros = (column: string) => `(extract(epoch from ${column}) * 1000000)::bigint::text`;
const timeOf = (parameter: string) => `'epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond'`;

const listedColumns = `${jobColumns},
  (select left(job_turns.prompt, 300) from job_turns where job_turns.job_id = jobs.id and job_turns.turn = 1) as prompt,
  ${micros('updated_at')} as "updatedMicros"`;

/** Most jobs that one page looks through for those it wants. */
const mostLookedAt = 5_000;

/** Lists of the jobs of an organization. */
export function createJobListStore(pool: Pool): JobListStore {
  return {
    async list({ organizationId }, { statuses, projectId, search, limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      if (projectId !== undefined && !canBeId(projectId)) return { jobs: [], nextCursor: null };
      const looked = `
        select * from jobs
        where organization_id = $1
          and ($2::text[] is null or status = any($2))
          and ($3::text is null or project_id = $3)
          and ($4::bigint is null or (created_at, id) < (${timeOf('$4')}, $5::text))
        order by created_at desc, id desc`;
      const where = [
        organizationId,
        statuses.length === 0 ? null : statuses,
        projectId ?? null,
        after?.createdMicros ?? null,
        after?.id ?? null,
      ];
      return readWithin(pool, 'search', async (client) => {
        const { rows } = await client.query<ListedJobRow & { createdMicros: string }>(
          `select ${listedColumns}, ${micros('created_at')} as "createdMicros"
           from (${looked} limit ${mostLookedAt}) as jobs
           where ($6::text is null or title ilike $6 or repository ilike $6 or branch ilike $6 or id = $7 or exists (
             select from job_turns where job_turns.job_id = jobs.id and job_turns.prompt ilike $6
           ))
           order by created_at desc, id desc limit $8`,
          [
            ...where,
            search === undefined ? null : patternOf(search),
            search === undefined ? null : toStoredText(search),
            limit + 1,
          ],
        );
        const jobs = rows.slice(0, limit);
        if (rows.length > limit) return { jobs: jobs.map(withoutCursor), nextCursor: cursorOf(jobs.at(-1)) };
        if (search === undefined) return { jobs: jobs.map(withoutCursor), nextCursor: null };
        // the next page goes on where this one stopped to look
        const stopped = await client.query<{ id: string; createdMicros: string }>(
          `select id, ${micros('created_at')} as "createdMicros" from (${looked}) as jobs offset ${mostLookedAt - 1} limit 1`,
          where,
        );
        return { jobs: jobs.map(withoutCursor), nextCursor: cursorOf(stopped.rows[0]) };
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

function withoutCursor(row: ListedJobRow & { createdMicros: string }): ListedJobRow {
  const { createdMicros: _, ...job } = row;
  return job;
}

function cursorOf(row: { id: string; createdMicros: string } | undefined): string | null {
  return row === undefined ? null : encodeCursor(row);
}

/** Finds a text as it stands: `%` and `_` mean themselves. */
function patternOf(text: string): string {
  return `%${toStoredText(text).replaceAll(/[\\%_]/g, '\\$&')}%`;
}
