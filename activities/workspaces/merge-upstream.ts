import { fetchHead, remoteHead, treeOf, type BranchRequest } from './branch-head.ts';
import type { Git } from '../git/git.ts';
import { mergeTreesYielding } from './merge-trees.ts';

export interface UpstreamRequest extends BranchRequest {
  branch: string;
  /** The job's own tree. */
  tree: string;
  /** What the branch held when the job's tree was last equal to it. */
  known: { commit: string; tree: string };
}

export interface UpstreamMerge {
  commit: string;
  headTree: string;
  /** The job's tree with what others did to the branch. */
  tree: string;
  /** Files that are as others have them, though the job had changed the same places. */
  overruled: string[];
}

/** Looks what a branch holds by now and joins it with the job's own change; null when the branch is gone. */
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
