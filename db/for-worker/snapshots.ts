import type { Pool, PoolClient } from 'pg';
import { newestTree, ofBase } from '../jobs/job-statements.ts';
import { emptySnapshots, keptTree, snapshotSize } from './retention.ts';
import { toStoredText } from '../stored-text.ts';

export interface Snapshot {
  tree: string;
  commit: string;
  baseCommit: string;
  pack: Buffer;
  patch: string;
  changedFiles: number;
  /** Lines added since the base commit; null if the change is too large to count them. */
  additions: number | null;
  deletions: number | null;
}

const snapshotColumns =
  'tree, commit, base_commit as "baseCommit", pack, patch, changed_files as "changedFiles", additions, deletions';

/** Limit of the snapshots of one job, in bytes; beyond it, only those that are kept longest have their contents. */
const maxSnapshotBytes = 512 * 2 ** 20;

const emptyBeyond = emptySnapshots(`
  select job_id, tree from (
    select job_id, tree, kept, sum(bytes) over (order by kept desc, created_at desc, tree) as total
    from (
      select job_id, tree, created_at, ${snapshotSize} as bytes, tree = $2 or ${keptTree} as kept
      from job_snapshots where job_id = $1 and removed_at is null
    ) as sized
  ) as ranked where not kept and total > $3`);

/** Statement that stores snapshots; `rows` has their job and the values of `valuesOf`. A tree that recurs is stored as of its last snapshot. */
export const insertSnapshots = (rows: string) => `
  insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions) ${rows}
  on conflict (job_id, tree) do update
  set commit = excluded.commit, base_commit = excluded.base_commit, pack = excluded.pack, patch = excluded.patch,
      changed_files = excluded.changed_files, additions = excluded.additions, deletions = excluded.deletions, created_at = now(), removed_at = null`;

export function valuesOf(snapshot: Snapshot): unknown[] {
  const { tree, commit, baseCommit, pack, patch, changedFiles, additions, deletions } = snapshot;
  return [tree, commit, baseCommit, pack, toStoredText(patch), changedFiles, additions, deletions];
}

/** Stores a snapshot within a transaction. */
export async function storeSnapshot(
  client: PoolClient,
  jobId: string,
  snapshot: Snapshot,
  maxBytes = maxSnapshotBytes,
): Promise<void> {
  const text = insertSnapshots('values ($1, $2, $3, $4, $5, $6, $7, $8, $9)');
  await client.query(text, [jobId, ...valuesOf(snapshot)]);
  await client.query(emptyBeyond, [jobId, snapshot.tree, maxBytes]);
}

/** Expression: the bytes of the snapshots and changes of the job `$1`. */
export const snapshotBytes = `(
  select coalesce(sum(bytes), 0)::float8 from (
    select octet_length(pack) + octet_length(patch) as bytes from job_snapshots where job_id = $1 and removed_at is null
    union all
    select octet_length(patch) from job_steps where job_id = $1 and patch is not null
  ) as sizes)`;

/** Keeps the snapshots of a job within their limit once one of `tree` was stored. `bytes` is the most that they can take. */
export async function boundSnapshots(
  pool: Pool,
  {
    jobId,
    tree,
    bytes,
    maxBytes = maxSnapshotBytes,
  }: { jobId: string; tree: string; bytes: number; maxBytes?: number },
): Promise<void> {
  if (bytes > maxBytes) await pool.query(emptyBeyond, [jobId, tree, maxBytes]);
}

/** `$1` is the job. */
const newestSnapshotOfJob = `select ${snapshotColumns} from job_snapshots where ${ofBase} and tree = (${newestTree})`;

/** The newest snapshot of a job, joined to a row; all null when there is none. */
export type SnapshotColumns = { [Column in keyof Snapshot]: Snapshot[Column] | null };

/** Join with which a statement that has one row of the job `$1` returns `snapshot.*`, `SnapshotColumns`. */
export const joinSnapshot = `left join (${newestSnapshotOfJob}) as snapshot on true`;

export function snapshotIn(row: SnapshotColumns): Snapshot | null {
  const { tree, commit, baseCommit, pack, patch, changedFiles, additions, deletions } = row;
  const isNone = tree === null || commit === null || baseCommit === null || pack === null || patch === null;
  if (isNone || changedFiles === null) return null;
  return { tree, commit, baseCommit, pack, patch, changedFiles, additions, deletions };
}

/** Creates the part of the snapshot store that only reads. */
export function createSnapshotReads(pool: Pool) {
  /** Returns the newest tree of the job, null while nothing has changed since the base commit. */
  async function latestTree(jobId: string): Promise<string | null> {
    const { rows } = await pool.query<{ tree: string }>(
      `select tree from job_snapshots where ${ofBase} and tree = (${newestTree})`,
      [jobId],
    );
    return rows[0]?.tree ?? null;
  }

  /** Returns the snapshot of the newest tree, null while nothing has changed since the base commit. */
  async function newestSnapshot(jobId: string): Promise<Snapshot | null> {
    const { rows } = await pool.query<Snapshot>({
      name: 'newest-snapshot',
      text: newestSnapshotOfJob,
      values: [jobId],
    });
    return rows[0] ?? null;
  }

  async function snapshot(jobId: string, tree: string): Promise<Snapshot | null> {
    const { rows } = await pool.query<Snapshot>(
      `select ${snapshotColumns} from job_snapshots where job_id = $1 and tree = $2`,
      [jobId, tree],
    );
    return rows[0] ?? null;
  }

  return { latestTree, newestSnapshot, snapshot };
}
