import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import { acquireLock, type FileLock } from '../../lib/file-lock.ts';
import { boundMirrors } from './bound-mirrors.ts';
import { createCommitHistory } from './commit-history.ts';
import { discardIfFree, expireJobs, listJobs } from './expire-jobs.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { translated } from '../git/git-failure.ts';
import { leftOut, untrackedPaths } from './untracked-paths.ts';
import { discardJobDirectory, jobDirectoryOf, type JobBase, type JobDirectory } from './job-directory.ts';
import { recordLeftTree, takeLeftTree } from './left-tree.ts';
import { mergeTreesYielding } from './merge-trees.ts';
import { mergeUpstream, type UpstreamMerge, type UpstreamRequest } from './merge-upstream.ts';
import type { JobDisks } from './job-disks.ts';
import { openLayer } from './job-layer.ts';
import type { OpenRequest, OpenWorkspace } from './open-workspace.ts';
import { describeTree, takeSnapshot, type TakenSnapshot } from './job-snapshot.ts';
import { ensureObjects, ensureTree, rebuildingOnce, type JobTreeDeps } from './job-tree.ts';
import { createMirrors } from './mirrors.ts';
import { ownPaths, type OwnPath } from './own-paths.ts';
import { publishBranch, withdrawBranch } from './publish-branch.ts';
import { createCommitReader, type CommitReader } from '../git/read-commit.ts';
import { listRemote, type RepositoryAccess } from '../git/remote.ts';
import { resolveRef } from '../git/resolve-ref.ts';
import { defaultTreeLimits, type TreeLimits } from './tree-limits.ts';

/** A snapshot of a job that becomes a commit on a branch. */
interface JobCommit extends RepositoryAccess {
  jobId: string;
  branch: string;
  baseCommit: string;
  snapshot: Snapshot;
  message: string;
  author: { name: string; email: string; date: Date };
}

/**
 * Manages the working copies of jobs. A working copy is disposable: any worker can rebuild it from its own mirror and a
 * snapshot's pack. Errors: GitError, SnapshotRemovedError, and the reason of a signal that ends the wait for a lock.
 */
export interface Workspaces extends CommitReader {
  /** Resolves a ref on the remote (null for the default branch) and refreshes the mirror. */
  resolve(access: RepositoryAccess & { ref: string | null }): Promise<{ branch: string; commit: string }>;
  /** Reports whether the remote has the branch. Fetches nothing. */
  hasBranch(access: RepositoryAccess & { branch: string }): Promise<boolean>;
  /**
   * Makes the job's tree equal to `snapshot` (or to the base commit when null) and returns it, locked until `release`.
   * Discards half-written files of a killed batch. A warm tree that already matches is only verified.
   */
  open(request: OpenRequest): Promise<OpenWorkspace>;
  /** Returns the current tree, with its pack relative to the base commit and the changes since `sinceTree`. */
  snapshot(
    jobId: string,
    options: { baseCommit: string; sinceTree: string | null; signal: AbortSignal },
  ): Promise<TakenSnapshot>;
  /**
   * Commits the tree of a snapshot on top of the base commit, or of the branch's head after an earlier turn, and pushes
   * it to `branch` with --force-with-lease. The same input produces the same commit id, so a second push is a no-op.
   * `beforePush` runs immediately before each push and may throw. Returns the snapshot of what was published.
   */
  publish(
    commit: JobCommit & {
      /** The commit that the job published last. Without one, the branch must be new or ours. */
      published: { commit: string; snapshot: Snapshot } | null;
      /** True if `branch` is the branch that holds what was published. */
      isFurther?: boolean;
      /** The base commit before a merge of the base branch that this publishes. */
      mergedFrom?: string | null;
      /** Receives the paths of the job's own changes before anything is pushed, and may throw. */
      checkPaths?(paths: OwnPath[]): void | Promise<void>;
      beforePush(): Promise<void>;
    },
  ): Promise<{ commit: string; snapshot: Snapshot }>;
  /** Deletes the branch of a first `publish`, unless others have pushed to it since. */
  withdraw(commit: JobCommit): Promise<boolean>;
  /**
   * Merges the job's own change with what others did to a branch since it was `published`, and then the base branch if it
   * is named. Returns null if the branch is gone. Files that conflict with others are resolved to their version
   * (`overruled`).
   */
  mergeUpstream(request: UpstreamRequest): Promise<UpstreamMerge | null>;
  /** Removes the job's tree. */
  remove(jobId: string): Promise<void>;
  /**
   * Removes the working copies of ended jobs (`endedAmong` returns which of the ids have ended), and those unused for
   * `keepMs`. Leaves those in use. Returns the number of ended jobs whose copies were removed.
   */
  removeEnded(endedAmong: (jobIds: string[]) => Promise<string[]>): Promise<number>;
  /** Removes the least recently used idle mirrors until the rest fit within `limitBytes`. Returns the number removed. */
  boundMirrors(limitBytes: number): Promise<number>;
}

export interface WorkspacesOptions {
  git: Git;
  /** Holds mirrors and working copies; several processes may share it. */
  directory: string;
  /** Working copies unused for longer are removed; they are rebuilt from their snapshot when needed. */
  keepMs?: number;
  limits?: TreeLimits;
  /** Provides each tree with its own disk. */
  disks?: JobDisks | null;
}

interface OpenJob {
  job: JobDirectory;
  base: JobBase;
}

const defaultKeepMs = 3 * 24 * 60 * 60_000;

/** Creates the manager of the working copies in a directory. */
export function createWorkspaces({
  git,
  directory,
  keepMs = defaultKeepMs,
  limits = defaultTreeLimits,
  disks = null,
}: WorkspacesOptions): Workspaces {
  const mirrors = createMirrors({ git, directory, maxRefs: limits.files });
  const deps: JobTreeDeps = { git, mirrors, directory, limits, disks };
  const commits = createCommitReader({ git, mirrors });
  const openJobs = new Map<string, OpenJob>();
  const processId = randomUUID();

  async function lockJob(job: JobDirectory, signal?: AbortSignal): Promise<FileLock> {
    mkdirSync(join(directory, 'locks'), { recursive: true, mode: 0o700 });
    return await acquireLock(job.lock, { signal });
  }

  const open: Workspaces['open'] = async (wanted) => {
    const { jobId, baseCommit, snapshot, layer = null, maxBytes = null, ...access } = wanted;
    const job = jobDirectoryOf(directory, jobId);
    const lock = await lockJob(job, access.signal);
    try {
      const leftTree = takeLeftTree(job, processId);
      const request = { ...access, job, baseCommit, snapshot, layer, maxBytes, leftTree };
      const base = await rebuildingOnce(deps, request, () => ensureTree(deps, request));
      openJobs.set(jobId, { job, base });
      return {
        path: job.tree,
        baseCommit,
        tree: snapshot?.tree ?? base.baseTree,
        ...(await openLayer(git, { job, layer, signal: access.signal })),
        leftOut: (path) => leftOut(git, { job, path, signal: access.signal }),
        ignoredPaths: () => untrackedPaths(git, { job, kind: 'ignored', signal: access.signal }),
        newPaths: () => untrackedPaths(git, { job, kind: 'new', signal: access.signal }),
        history: createCommitHistory(git, { job, base, mirror: mirrors.directoryOf(access), signal: access.signal }),
        async release(left) {
          openJobs.delete(jobId);
          if (left !== undefined) recordLeftTree(job, { processId, ...left });
          await utimes(job.root, new Date(), new Date()).catch(() => {});
          lock[Symbol.dispose]();
        },
      };
    } catch (error) {
      lock[Symbol.dispose]();
      throw error;
    }
  };

  const snapshot: Workspaces['snapshot'] = async (jobId, { baseCommit, sinceTree, signal }) => {
    const opened = openJobs.get(jobId);
    if (opened === undefined || opened.base.baseCommit !== baseCommit) {
      throw new GitError('other', { message: 'The working copy is not open at this base commit.' });
    }
    try {
      return await takeSnapshot(git, { ...opened, sinceTree, signal });
    } catch (error) {
      if (error instanceof GitError && error.kind === 'corrupt') await mirrors.suspect(opened.base);
      throw error;
    }
  };

  /** Runs `work` under the job's lock, with the objects of both snapshots in its git directory. */
  async function withObjects<Result>(
    request: RepositoryAccess & { jobId: string; baseCommit: string },
    { own, published }: { own: Snapshot | null; published: Snapshot | null },
    work: (job: OpenJob) => Promise<Result>,
  ): Promise<Result> {
    const job = jobDirectoryOf(directory, request.jobId);
    using _lock = await lockJob(job, request.signal);
    const objects = { ...request, job, snapshot: published };
    const base = await rebuildingOnce(deps, objects, async () => {
      if (published !== null) await ensureObjects(deps, objects);
      return await ensureObjects(deps, { ...objects, snapshot: own });
    });
    return await work({ job, base });
  }

  const publish: Workspaces['publish'] = async ({
    snapshot: taken,
    published,
    isFurther = false,
    mergedFrom = null,
    checkPaths,
    ...request
  }) => {
    const before = published === null ? null : { commit: published.commit, tree: published.snapshot.tree };
    return withObjects(request, { own: taken, published: published?.snapshot ?? null }, async ({ job, base }) => {
      const { signal } = request;
      let earlier = before?.tree;
      if (earlier !== undefined && mergedFrom !== null) {
        const sides = { base: `${mergedFrom}^{tree}`, ours: earlier, theirs: base.baseTree };
        earlier = (await mergeTreesYielding(git, { job, limits, signal, ...sides })).tree;
      }
      const from = earlier === undefined ? [base.baseTree] : isFurther ? [earlier] : [base.baseTree, earlier];
      await checkPaths?.(await ownPaths(git, { job, from, tree: taken.tree, signal }));
      const { commit, tree } = await publishBranch(git, {
        ...request,
        job,
        limits,
        published: before,
        mergesBase: mergedFrom !== null,
        tree: taken.tree,
      });
      if (tree === taken.tree) return { commit, snapshot: taken };
      return { commit, snapshot: await describeTree(git, { job, base, tree, signal }) };
    });
  };

  const withdraw: Workspaces['withdraw'] = async ({ snapshot: taken, ...request }) =>
    withObjects(request, { own: taken, published: null }, ({ job }) =>
      withdrawBranch(git, { ...request, job, tree: taken.tree }),
    );

  const mergePublished: Workspaces['mergeUpstream'] = async (request) => {
    const objects = { own: request.snapshot, published: request.published.snapshot };
    return withObjects(request, objects, (opened) => mergeUpstream(git, { ...opened, limits }, request));
  };

  const remove: Workspaces['remove'] = async (jobId) => {
    const job = jobDirectoryOf(directory, jobId);
    const lock = await lockJob(job);
    try {
      await discardJobDirectory(directory, job);
    } finally {
      lock.remove();
    }
  };

  const removeEnded: Workspaces['removeEnded'] = async (endedAmong) => {
    await expireJobs(directory, keepMs);
    let removed = 0;
    for (const jobId of await endedAmong(await listJobs(directory))) {
      const isStillEnded = async () => (await endedAmong([jobId])).length > 0;
      if (await discardIfFree(directory, jobId, isStillEnded)) removed += 1;
    }
    return removed;
  };

  return {
    resolve: translated((access) => resolveRef({ git, mirrors }, access)),
    hasBranch: translated(async ({ branch, ...access }) => {
      const ref = `refs/heads/${branch}`;
      const { refs } = await listRemote(git, { gitDir: await mirrors.ensure(access), access, names: [ref] });
      return refs.has(ref);
    }),
    open: translated(open),
    snapshot: translated(snapshot),
    publish: translated(publish),
    withdraw: translated(withdraw),
    mergeUpstream: translated(mergePublished),
    readFile: translated(commits.readFile),
    readFirst: translated(commits.readFirst),
    listFiles: translated(commits.listFiles),
    listBranches: translated(commits.listBranches),
    findFiles: translated(commits.findFiles),
    readFolder: translated(async (request) => {
      const { revision, read, readIncluded } = await commits.readFolder(request);
      return { revision, read: translated(read), readIncluded: translated(readIncluded) };
    }),
    remove: translated(remove),
    removeEnded: translated(removeEnded),
    boundMirrors: translated((limitBytes) => boundMirrors(directory, limitBytes)),
  };
}
