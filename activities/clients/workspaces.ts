import type { Snapshot } from '../../db/steps.ts';
import type { GitCredential } from './git.ts';

/** A checkout an activity works in: a plain tree without `.git`; git's own directory lies elsewhere. */
export interface Workspace {
  /** Absolute path of the tree. */
  path: string;
  baseCommit: string;
}

export interface RepositoryAccess {
  /** A URL or a local path that `parseRepository` accepted. */
  repository: string;
  credential: GitCredential | null;
  signal: AbortSignal;
}

/**
 * Working copies of jobs. A working copy is data: any worker rebuilds it from its own mirror and a snapshot's pack.
 * Errors: GitError.
 */
export interface Workspaces {
  /** Resolves a ref (null: the default branch) on the remote, refreshing the mirror. */
  resolve(access: RepositoryAccess & { ref: string | null }): Promise<{ branch: string; commit: string }>;
  /**
   * Makes the job's tree equal to `snapshot` (or to the base commit when null) and answers it, exclusively until
   * `release`. Half-written files of a killed batch are gone afterwards; a warm, equal tree is only checked.
   */
  open(
    access: RepositoryAccess & { jobId: string; baseCommit: string; snapshot: Snapshot | null },
  ): Promise<Workspace & { release(): Promise<void> }>;
  /** The tree as it stands now, with the pack relative to the base commit and the patch; null when it equals `sinceTree`. */
  snapshot(jobId: string, options: { baseCommit: string; sinceTree: string | null; signal: AbortSignal }): Promise<{ tree: string; snapshot: Snapshot | null }>;
  /**
   * Commits the tree of a snapshot on top of the base commit and pushes it to `branch`, with --force-with-lease.
   * Same input, same commit id, so a second push is a no-op. `beforePush` runs immediately before the push and may throw.
   */
  publish(
    access: RepositoryAccess & {
      jobId: string;
      branch: string;
      baseCommit: string;
      snapshot: Snapshot;
      message: string;
      author: { name: string; email: string; date: Date };
      /** Commit the branch is known to have on the remote from an earlier turn; null when it must be new or ours. */
      expectedHead: string | null;
      beforePush(): Promise<void>;
    },
  ): Promise<{ commit: string }>;
  /** Removes the job's tree. */
  remove(jobId: string): Promise<void>;
}
