import type { PoolClient } from 'pg';
import { emptySnapshots, keptTree, snapshotSize } from './retention.ts';
import { toStoredText } from '../stored-text.ts';

export interface Snapshot {
  tree: string;
  commit: string;
  baseCommit: string;
  pack: Buffer;
  patch: string;
  changedFiles: number;
}

/** What the snapshots of one job may take; beyond it only those that are kept longest have their contents. */
export const mostSnapshotBytes = 512 * 2 ** 20;

const emptyBeyond = emptySnapshots(`
  select job_id, tree from (
    select job_id, tree, kept, sum(bytes) over (order by kept desc, created_at desc, tree) as total
    from (
      select job_id, tree, created_at, ${snapshotSize} as bytes, tree = $2 or ${keptTree} as kept
      from job_snapshots where job_id = $1 and removed_at is null
    ) as sized
  ) as ranked where not kept and total > $3`);

/** Stores a snapshot within a transaction. A tree that comes back is stored as it was made last. */
export async function storeSnapshot(
  client: PoolClient,
  jobId: string,
  snapshot: Snapshot,
  mostBytes = mostSnapshotBytes,
): Promise<void> {
  const { tree, commit, baseCommit, pack, patch, changedFiles } = snapshot;
  await client.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (job_id, tree) do update
     set commit = excluded.commit, base_commit = excluded.base_commit, pack = excluded.pack, patch = excluded.patch,
         changed_files = excluded.changed_files, created_at = now(), removed_at = null`,
    [jobId, tree, commit, baseCommit, pack, toStoredText(patch), changedFiles],
  );
  await client.query(emptyBeyond, [jobId, tree, mostBytes]);
}
