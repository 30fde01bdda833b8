import type { PoolClient } from 'pg';
import { toStoredText } from '../stored-text.ts';

export interface Snapshot {
  tree: string;
  commit: string;
  baseCommit: string;
  pack: Buffer;
  patch: string;
  changedFiles: number;
}

/** Stores a snapshot within a transaction. A tree that comes back is stored as it was made last. */
export async function storeSnapshot(client: PoolClient, jobId: string, snapshot: Snapshot): Promise<void> {
  const { tree, commit, baseCommit, pack, patch, changedFiles } = snapshot;
  await client.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files)
     values ($1, $2, $3, $4, $5, $6, $7)
     on conflict (job_id, tree) do update
     set commit = excluded.commit, base_commit = excluded.base_commit, pack = excluded.pack, patch = excluded.patch,
         changed_files = excluded.changed_files`,
    [jobId, tree, commit, baseCommit, pack, toStoredText(patch), changedFiles],
  );
}
