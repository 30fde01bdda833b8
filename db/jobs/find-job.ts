import type { Pool } from 'pg';
import { remember } from '../../lib/remember.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { findJobs, findJobVersions } from './job-statements.ts';
import type { JobRow, JobStore } from './jobs.ts';

type JobKey = Pick<JobRow, 'organizationId' | 'projectId' | 'id'>;
type Versioned<Row> = Row & { version: string };

/** Few, because the texts of a job can take 100 KB. */
const mostKept = 1_000;

/**
 * Creates the lookup of one job. A row that was read before is kept and returned again while its version in the table is
 * the same: to compare the versions takes a fraction of the CPU time that reading the row does.
 */
export function createJobFinder(pool: Pool): JobStore['find'] {
  const kept = new Map<string, { row: Readonly<JobRow>; version: string }>();
  const rows = loaderOf<Versioned<JobRow>>(pool, findJobs);
  const versions = loaderOf<Versioned<JobKey>>(pool, findJobVersions);

  async function find(key: JobKey): Promise<Readonly<JobRow> | null> {
    const name = keyOf(key);
    const known = kept.get(name);
    if (known !== undefined && (await versions.load(key))?.version === known.version) return known.row;
    const found = await rows.load(key);
    if (found === null) {
      kept.delete(name);
      return null;
    }
    const { version, ...row } = found;
    remember(kept, name, { row, version }, mostKept);
    return row;
  }

  return async ({ organizationId }: Owner, projectId, id) =>
    canBeId(projectId) && canBeId(id) ? find({ organizationId, projectId, id }) : null;
}

function keyOf({ organizationId, projectId, id }: JobKey): string {
  return `${organizationId} ${projectId} ${id}`;
}

/** Lookups of one turn of the event loop share a statement. */
function loaderOf<Row extends JobKey>(pool: Pool, statement: { name: string; text: string }) {
  return createBatchLoader<JobKey, Row>({
    keyOf,
    async loadMany(keys) {
      const values = [
        keys.map((one) => one.organizationId),
        keys.map((one) => one.projectId),
        keys.map(({ id }) => id),
      ];
      return (await pool.query<Row>({ ...statement, values })).rows;
    },
  });
}
