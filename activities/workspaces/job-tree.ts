import { existsSync, mkdirSync, readdirSync } from 'node:fs';
import { link, rm } from 'node:fs/promises';
import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import { SnapshotRemovedError } from '../../db/jobs/snapshot-removed.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import {
  adoptNextIndex,
  createJobDirectory,
  discardJobDirectory,
  hasLeftovers,
  indexedTree,
  indexPath,
  nextIndexPath,
  readBase,
  writeBase,
  type JobBase,
  type JobDirectory,
} from './job-directory.ts';
import { dropLayer, currentLayer } from './job-layer.ts';
import type { JobDisks } from './job-disks.ts';
import type { Mirrors } from './mirrors.ts';
import type { RepositoryAccess } from '../git/remote.ts';
import { removeForeignEntries } from './tree-hygiene.ts';
import { checkTree, type TreeLimits } from './tree-limits.ts';

export interface JobTreeDeps {
  git: Git;
  mirrors: Mirrors;
  directory: string;
  limits: TreeLimits;
  /** Null stores trees on the worker's disk. */
  disks: JobDisks | null;
}

export interface JobTreeRequest extends RepositoryAccess {
  job: JobDirectory;
  baseCommit: string;
  snapshot: Snapshot | null;
  /** Key of the layer that the tree and HOME hold besides the snapshot; null for none. */
  layer?: string | null;
  /** Most bytes of a disk for the tree and HOME; null for the operator's size. */
  maxBytes?: number | null;
}

interface TreeRequest extends JobTreeRequest {
  /** The tree that the files are known to be equal to. */
  leftTree: string | null;
}

const checkoutTimeoutMs = 10 * 60_000;

/** Runs `work`. If it finds a damaged copy of the repository, discards the copy and retries once from the remote. */
export async function rebuildingOnce<Result>(
  { mirrors, directory }: JobTreeDeps,
  { job, ...mirror }: JobTreeRequest,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof GitError && error.kind === 'corrupt')) throw error;
    await discardJobDirectory(directory, job);
    await mirrors.suspect(mirror);
    return await work();
  }
}

/** Prepares the job's git directory, so that it has the base commit and the objects of the snapshot. */
export async function ensureObjects(deps: JobTreeDeps, request: JobTreeRequest): Promise<JobBase> {
  const { job, baseCommit, snapshot, signal } = request;
  if (!deps.mirrors.isUsable(request)) await deps.mirrors.ensureCommit(request, baseCommit);
  const base = (await keptBase(request)) ?? (await startOver(deps, request));
  if (snapshot !== null && !existsSync(indexPath(job, snapshot.tree))) {
    if (snapshot.pack.length === 0) throw new SnapshotRemovedError();
    const args = ['index-pack', '--stdin', '--fix-thin'];
    await deps.git.run({ gitDir: job.gitDir, args, input: snapshot.pack, signal });
  }
  return base;
}

async function keptBase({ job, baseCommit, ...access }: JobTreeRequest): Promise<JobBase | null> {
  const base = readBase(job);
  if (base === null || base.baseCommit !== baseCommit) return null;
  if (base.organizationId !== access.organizationId || base.repository !== access.repository) return null;
  return (await hasLeftovers(job)) ? null : base;
}

async function startOver(deps: JobTreeDeps, request: JobTreeRequest): Promise<JobBase> {
  const { git, mirrors, directory } = deps;
  const { job, baseCommit, organizationId, repository, signal } = request;
  await discardJobDirectory(directory, job);
  // without --verify, the message names a commit that is not there
  const args = ['rev-parse', `${baseCommit}^{tree}`];
  const baseTree = await mirrors.reading(request, baseCommit, async (gitDir) =>
    (await git.run({ gitDir, args, signal })).stdout.toString().trim(),
  );
  await createJobDirectory(job, { mirror: mirrors.directoryOf(request) });
  const base = { organizationId, repository, baseCommit, baseTree };
  await writeBase(job, base);
  return base;
}

/**
 * Makes the job's tree equal to the snapshot, or to the base commit if there is none. A tree that already matches is
 * only verified, unless this process left it like that.
 */
export async function ensureTree(deps: JobTreeDeps, request: TreeRequest): Promise<JobBase> {
  const { job, snapshot, layer = null, maxBytes = null, leftTree, signal } = request;
  const base = await ensureObjects(deps, request);
  const wanted = snapshot?.tree ?? base.baseTree;
  mkdirSync(job.tree, { recursive: true, mode: 0o700 });
  const present = await indexedTree(job);
  const isReady = present === wanted && (deps.disks === null || (await deps.disks.holds(job, maxBytes)));
  const isFilled = (await currentLayer(job)) === layer;
  const isKnown = isReady && isFilled;
  if (isKnown && (leftTree === wanted || (await isUnchanged(deps.git, { job, tree: wanted, signal })))) return base;
  if (!isReady) {
    const size = await checkTree(deps.git, { gitDir: job.gitDir, tree: wanted, limits: deps.limits, signal });
    await deps.disks?.provide(job, size, maxBytes);
  }
  await dropLayer(job);
  await rm(nextIndexPath(job), { force: true });
  // A hard link preserves the index's mtime, which git uses to decide which entries to re-read
  if (present !== null) await link(indexPath(job, present), nextIndexPath(job));
  const isEmpty = readdirSync(job.tree).length === 0;
  if (present !== null) await removeForeignEntries(job.tree, signal);
  const call = {
    gitDir: job.gitDir,
    workTree: job.tree,
    env: { GIT_INDEX_FILE: nextIndexPath(job) },
    timeoutMs: checkoutTimeoutMs,
    signal,
  };
  await deps.git.run({ ...call, args: ['read-tree', '--reset', '-u', '--no-recurse-submodules', wanted] });
  if (!isEmpty) await deps.git.run({ ...call, args: ['clean', '-ffdx', '--quiet'] });
  await adoptNextIndex(job, wanted);
  return base;
}

async function isUnchanged(
  git: Git,
  { job, tree, signal }: { job: JobDirectory; tree: string; signal: AbortSignal },
): Promise<boolean> {
  const { stdout } = await git.run({
    gitDir: job.gitDir,
    workTree: job.tree,
    args: ['ls-files', '--modified', '--deleted', '--others', '--exclude-standard', '-z'],
    env: { GIT_INDEX_FILE: indexPath(job, tree) },
    maxOutputBytes: 1,
    signal,
  });
  return stdout.length === 0;
}
