import type { Pool } from 'pg';
import { remember } from '../../lib/remember.ts';
import { createBatchLoader } from '../batch-loader.ts';
import type { Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { findChangedJobs, findJobs } from './job-statements.ts';
import type { JobRow } from './jobs.ts';

type JobKey = Pick<JobRow, 'organizationId' | 'projectId' | 'id'>;
type VersionedRow = JobRow & { version: string };

interface KeptRow {
  name: string;
  row: Readonly<JobRow>;
  version: string;
}

/** Few, because the texts of a job can take 100 KB. */
const maxKept = 1_000;

/**
 * Maximum number of statements that run at once. Polls that arrive meanwhile share the next one, because a statement costs
 * the API about as much for one job as for many.
 */
const checksAtOnce = 2;

/**
 * Creates the lookup of one job. A row that was read before is kept and returned again while its version in the table is
 * the same: to compare the versions takes a fraction of the CPU time that reading the row does.
 */
export function createJobFinder(pool: Pool) {
  const kept = new Map<string, KeptRow>();
  const rows = createBatchLoader<JobKey, VersionedRow>({ keyOf, loadMany: (keys) => rowsOf(pool, keys) });
  const current = createBatchLoader<KeptRow, KeptRow>({
    keyOf: ({ name }) => name,
    loadMany: (asked) => currentOf(pool, asked),
    atOnce: checksAtOnce,
  });

  async function find(key: JobKey): Promise<Readonly<JobRow> | null> {
    const name = keyOf(key);
    const known = kept.get(name);
    // the one that was compared may have been read in the meantime
    const same = known === undefined ? null : await current.load(known);
    if (same !== null) return same.row;
    const found = await rows.load(key);
    if (found === null) {
      kept.delete(name);
      return null;
    }
    const { version, ...row } = found;
    remember(kept, name, { name, row, version }, maxKept);
    return row;
  }

  return async ({ organizationId }: Owner, projectId: string, id: string) =>
    canBeId(projectId) && canBeId(id) ? find({ organizationId, projectId, id }) : null;
}

function keyOf({ organizationId, projectId, id }: JobKey): string {
  return `${organizationId} ${projectId} ${id}`;
}

async function rowsOf(pool: Pool, keys: JobKey[]): Promise<VersionedRow[]> {
  const values = [keys.map((one) => one.organizationId), keys.map((one) => one.projectId), keys.map(({ id }) => id)];
  return (await pool.query<VersionedRow>({ ...findJobs, values })).rows;
}

/** Returns the rows whose version in the table is the kept one. */
async function currentOf(pool: Pool, asked: KeptRow[]): Promise<KeptRow[]> {
  // joined here, because pg escapes the items of an array one by one
  const values = [
    asked.map(({ row }) => row.organizationId).join(' '),
    asked.map(({ row }) => row.id).join(' '),
    asked.map(({ version }) => version).join(' '),
  ];
  const { rows } = await pool.query<{ position: number }>({ ...findChangedJobs, values });
  if (rows.length === 0) return asked;
  const changed = new Set(rows.map(({ position }) => position));
  return asked.filter((_, index) => !changed.has(index + 1));
}
