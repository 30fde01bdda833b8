import type { Git } from './git.ts';
import { GitError } from './git-error.ts';
import type { JobDirectory } from './job-directory.ts';

export interface MergeRequest {
  job: JobDirectory;
  /** What both sides began with. */
  base: string;
  ours: string;
  theirs: string;
  signal: AbortSignal;
}

const identity = {
  GIT_AUTHOR_NAME: 'Docket',
  GIT_AUTHOR_EMAIL: 'docket@localhost',
  GIT_AUTHOR_DATE: '@946684800 +0000',
  GIT_COMMITTER_NAME: 'Docket',
  GIT_COMMITTER_EMAIL: 'docket@localhost',
  GIT_COMMITTER_DATE: '@946684800 +0000',
};

/** The tree with both changes. Its objects are in the job's git directory. Throws `rejected` where they contradict. */
export async function mergeTrees(git: Git, { job, base, ours, theirs, signal }: MergeRequest): Promise<string> {
  if (base === ours || ours === theirs) return theirs;
  if (base === theirs) return ours;
  const { gitDir } = job;
  const commit = async (tree: string, parents: string[]) => {
    const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'Merge'];
    return (await git.run({ gitDir, args, env: identity, signal })).stdout.toString().trim();
  };
  // git merges commits: these three exist for it alone
  const begin = await commit(base, []);
  const sides = [await commit(ours, [begin]), await commit(theirs, [begin])];
  const args = ['merge-tree', '--write-tree', '--no-messages', ...sides];
  const { stdout, exitCode } = await git.run({ gitDir, args, acceptedExitCodes: [1], signal });
  if (exitCode === 1) {
    throw new GitError('rejected', {
      message:
        'Somebody changed the branch in the same places as the agent, so the changes cannot be put together; the branch was left as it is.',
    });
  }
  return stdout.toString().trim();
}
