import type { Snapshot } from '../../db/for-worker/snapshots.ts';
import { fetchHead, isAncestor, remoteHead, treeOf, type BranchRequest } from './branch-head.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { fetchRefs, type RepositoryAccess } from '../git/remote.ts';
import type { JobBase, JobDirectory } from './job-directory.ts';
import { describeTree } from './job-snapshot.ts';
import { commitToMerge, mergeCommits, mergeTreesYielding } from './merge-trees.ts';
import { checkTree, type TreeLimits } from './tree-limits.ts';

export interface UpstreamRequest extends RepositoryAccess {
  jobId: string;
  baseCommit: string;
  snapshot: Snapshot | null;
  branch: string;
  published: { commit: string; snapshot: Snapshot };
  /** True if the head of the branch becomes the new base commit. */
  asBase: boolean;
  /** Branch that is merged afterwards, with git's markers in files with conflicts; its head becomes the new base commit. */
  base?: string | null;
  /** True if the tree contains the base commit by a merge that has not been published. */
  mergesBase?: boolean;
}

export interface UpstreamMerge {
  commit: string;
  headTree: string;
  /** The job's tree with upstream changes merged in. */
  tree: string;
  /** Files resolved to the upstream version, although the job had changed the same lines. */
  overruled: string[];
  /** The merge of the base branch into this tree; null if there was none, or nothing to merge. */
  merged: BaseMerge | null;
  /** Snapshots of the tree and, if it differs, of the head; each is null if it is already known. */
  snapshot: Snapshot | null;
  headSnapshot: Snapshot | null;
}

interface BaseMerge {
  /** Head of the base branch. */
  commit: string;
  /** Sentences of git about conflicts. */
  messages: string[];
}

interface OpenJob {
  job: JobDirectory;
  base: JobBase;
  limits: TreeLimits;
}

/** Fetches the current head of a branch and merges it with the job's own change. Returns null if the branch is gone. */
export async function mergeUpstream(
  git: Git,
  { job, base, limits }: OpenJob,
  { snapshot: own, published, asBase, ...access }: UpstreamRequest,
): Promise<UpstreamMerge | null> {
  const request = { ...access, job, limits };
  const known = published.snapshot.tree;
  const ref = `refs/heads/${request.branch}`;
  const commit = await remoteHead(git, request, ref);
  if (commit === null) return null;
  const ours = own?.tree ?? base.baseTree;
  let upstream = { headTree: known, tree: ours, overruled: new Array<string>() };
  if (commit !== published.commit) {
    await fetchHead(git, request, ref);
    const headTree = await treeOf(git, request, commit);
    upstream = { headTree, ...(await mergeTreesYielding(git, { ...request, base: known, ours, theirs: headTree })) };
  }
  const { headTree } = upstream;
  const parents = [commit, ...(request.mergesBase === true ? [base.baseCommit] : [])];
  const merged = await mergeBase(git, request, { tree: upstream.tree, parents });
  const tree = merged?.tree ?? upstream.tree;
  if (asBase && tree === headTree) return { ...upstream, commit, merged, snapshot: null, headSnapshot: null };
  const moved = asBase ? { commit, baseTree: headTree } : merged;
  const newBase = moved === null ? base : { ...base, baseCommit: moved.commit, baseTree: moved.baseTree };
  const describe = (one: string, of: JobBase) =>
    describeTree(git, { job, base: of, tree: one, signal: request.signal });
  const isHeadKnown = asBase || headTree === known || headTree === tree;
  return {
    ...upstream,
    commit,
    tree,
    merged,
    snapshot: moved === null && tree === own?.tree ? own : await describe(tree, newBase),
    headSnapshot: isHeadKnown ? null : await describe(headTree, base),
  };
}

/** Merges the head of the base branch into a tree. Returns null if the tree contains it already, or it is gone. */
async function mergeBase(
  git: Git,
  request: BranchRequest & Pick<UpstreamRequest, 'branch' | 'base'>,
  side: { tree: string; parents: string[] },
): Promise<(BaseMerge & { tree: string; baseTree: string }) | null> {
  const { job, branch, base = null, signal } = request;
  if (base === null) return null;
  const { gitDir } = job;
  const ref = `refs/heads/${base}`;
  const commit = await remoteHead(git, request, ref);
  if (commit === null) return null;
  const refspecs = [`+refs/heads/${branch}:refs/docket/seen`, `+${ref}:refs/docket/base`];
  await fetchRefs(git, { ...request, gitDir, refspecs });
  const ours = await commitToMerge(git, request, side);
  if (await isAncestor(git, request, { commit, of: ours })) return null;
  const common = { gitDir, args: ['merge-base', ours, commit], acceptedExitCodes: [1], signal };
  if ((await git.run(common)).exitCode === 1) {
    const message = `The job's branch and ${base} have no common commit, so they cannot be merged.`;
    throw new GitError('rejected', { message });
  }
  // it comes from outside: its tree has not been checked yet
  await checkTree(git, { ...request, gitDir, tree: commit });
  const { tree, messages } = await mergeCommits(git, request, { ours, theirs: commit });
  return { commit, messages, tree, baseTree: await treeOf(git, request, commit) };
}
