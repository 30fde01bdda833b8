import { fetchHead, remoteHead, treeOf, type BranchRequest } from './branch-head.ts';
import type { Git } from '../git/git.ts';
import { mergeTreesYielding } from './merge-trees.ts';

export interface UpstreamRequest extends BranchRequest {
  branch: string;
  tree: string;
  /** Commit and tree of the branch when it last matched the job's tree. */
  known: { commit: string; tree: string };
}

export interface UpstreamMerge {
  commit: string;
  headTree: string;
  /** The job's tree with upstream changes merged in. */
  tree: string;
  /** Files resolved to the upstream version, although the job had changed the same lines. */
  overruled: string[];
}

/** Fetches the current head of a branch and merges it with the job's own change. Returns null if the branch is gone. */
export async function mergeUpstream(git: Git, request: UpstreamRequest): Promise<UpstreamMerge | null> {
  const { job, known, tree, limits, signal } = request;
  const ref = `refs/heads/${request.branch}`;
  const commit = await remoteHead(git, request, ref);
  if (commit === null) return null;
  if (commit === known.commit) return { commit, headTree: known.tree, tree, overruled: [] };
  await fetchHead(git, request, ref);
  const headTree = await treeOf(git, request, commit);
  const joined = await mergeTreesYielding(git, { job, base: known.tree, ours: tree, theirs: headTree, limits, signal });
  return { commit, headTree, ...joined };
}
