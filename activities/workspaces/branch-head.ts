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

/** Returns the tree of a commit that is present in the job's git directory. */
export async function treeOf(git: Git, { job, signal }: BranchRequest, commit: string): Promise<string> {
  const args = ['rev-parse', '--verify', '--quiet', `${commit}^{tree}`];
  const { stdout } = await git.run({ gitDir: job.gitDir, args, signal });
  return stdout.toString().trim();
}
