import type { Git } from '../git/git.ts';
import type { JobDirectory } from './job-directory.ts';
import type { TreeLimits } from './tree-limits.ts';
import { fetchRefs, listRemote, type RepositoryAccess } from '../git/remote.ts';

interface JobAccess extends RepositoryAccess {
  job: JobDirectory;
}

export interface BranchRequest extends JobAccess {
  limits: TreeLimits;
}

/** Returns the head commit of a remote branch, or null if the branch does not exist. */
export async function remoteHead(git: Git, request: JobAccess, ref: string): Promise<string | null> {
  const { refs } = await listRemote(git, { gitDir: request.job.gitDir, access: request, names: [ref] });
  return refs.get(ref) ?? null;
}

/** Fetches the commits of a branch into the job's git directory. */
export async function fetchHead(git: Git, request: BranchRequest, ref: string): Promise<void> {
  await fetchRefs(git, { ...request, gitDir: request.job.gitDir, refspecs: [`+${ref}:refs/docket/seen`] });
}

/** Reports whether a commit is another one or part of its history; both are present in the job's git directory. */
export async function isAncestor(
  git: Git,
  { job, signal }: JobAccess,
  { commit, of }: { commit: string; of: string },
): Promise<boolean> {
  const args = ['merge-base', '--is-ancestor', commit, of];
  return (await git.run({ gitDir: job.gitDir, args, acceptedExitCodes: [1], signal })).exitCode === 0;
}

/** Returns the tree of a commit that is present in the job's git directory. */
export async function treeOf(git: Git, { job, signal }: BranchRequest, commit: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`];
  const { stdout } = await git.run({ gitDir: job.gitDir, args, signal });
  return stdout.toString().trim();
}
