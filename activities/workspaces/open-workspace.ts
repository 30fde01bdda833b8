import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import type { CommitHistory } from './commit-history.ts';
import type { LeftOut } from './untracked-paths.ts';

/** A request for a working copy of a job. */
export interface OpenRequest extends RepositoryAccess {
  jobId: string;
  baseCommit: string;
  snapshot: Snapshot | null;
  /** Key of the layer that the tree and HOME hold besides the snapshot; null for none. */
  layer?: string | null;
  /** Most bytes that the tree and HOME may have together where they are on a disk of their own; null for its usual size. */
  maxBytes?: number | null;
}

/** Files that the setup added to a working copy. Names need not be UTF-8, so each byte of a path is one character. */
export interface AddedPaths {
  paths: string[];
  /** Paths that the repository's own rules do not ignore. */
  excluded: string[];
}

/** The layer of a working copy. */
export interface WorkspaceLayer {
  /** Folder that is HOME of the job's commands. */
  home: string;
  /** False if the layer is not there; then the tree holds nothing but the snapshot, and HOME nothing. */
  isFilled: boolean;
  /** Records that the layer was added. What it added at the `excluded` paths stays out of every snapshot. */
  keepLayer(excluded: readonly string[]): Promise<void>;
  /** Returns what was added to the tree besides the snapshot. */
  added(): Promise<AddedPaths>;
}

/** A checkout that an activity works in: a plain tree without `.git`. Git's own directory is elsewhere. */
export interface OpenWorkspace extends WorkspaceLayer {
  /** Absolute path of the tree. */
  path: string;
  baseCommit: string;
  /** Id of the tree as it was opened. */
  tree: string;
  /** Returns why a path of the tree stays out of every snapshot. */
  leftOut(path: string): Promise<LeftOut>;
  /** Returns the paths that ignore rules keep out of every snapshot, a folder instead of all that it holds. */
  ignoredPaths(): Promise<ReadonlySet<string>>;
  /** Returns the paths that the next snapshot adds, a folder instead of all that it holds. */
  newPaths(): Promise<ReadonlySet<string>>;
  history: CommitHistory;
  /** Unlocks the tree. Pass the `tree` that the files certainly equal: the next `open` of this process relies on it. */
  release(left?: { tree: string }): Promise<void>;
}
