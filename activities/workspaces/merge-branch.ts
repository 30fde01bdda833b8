import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { fetchRefs, listRemote, receivePackOf, remoteCall } from '../git/remote.ts';
import { checkTree, type TreeLimits } from './tree-limits.ts';

export interface BranchMerge {
  repository: string;
  head: string;
  base: string;
  /** Message of the merge commit. Message and date are fixed so that every attempt produces the same commit. */
  message: string;
  date: Date;
  /** Runs immediately before the push and may throw. */
  beforePush(): Promise<void>;
  signal: AbortSignal;
}

export type MergedBranch = { kind: 'merged'; commit: string } | { kind: 'refused'; problem: string };

/**
 * Merges one branch of a local repository into another with a merge commit. Idempotent: a second run finds the branch
 * already merged. A conflict is refused and leaves the repository unchanged.
 */
export async function mergeBranch(
  git: Git,
  { directory, limits }: { directory: string; limits: TreeLimits },
  merge: BranchMerge,
): Promise<MergedBranch> {
  const merges = join(directory, 'merges');
  await mkdir(merges, { recursive: true, mode: 0o700 });
  const gitDir = await mkdtemp(join(merges, 'merge-'));
  try {
    await prepareGitDir(gitDir);
    return await mergeIn(git, { gitDir, limits }, merge);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function prepareGitDir(gitDir: string): Promise<void> {
  await mkdir(join(gitDir, 'objects'));
  await mkdir(join(gitDir, 'refs'));
  await mkdir(join(gitDir, 'info'));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/docket\n');
  await writeFile(join(gitDir, 'config'), '[core]\n  repositoryFormatVersion = 0\n  bare = true\n');
  // ignore the merge attributes that the branches define
  await writeFile(join(gitDir, 'info', 'attributes'), '* !merge !diff -text\n');
}

async function mergeIn(
  git: Git,
  { gitDir, limits }: { gitDir: string; limits: TreeLimits },
  merge: BranchMerge,
): Promise<MergedBranch> {
  const { repository, signal } = merge;
  const access = { repository, credential: null, signal };
  const [headRef, baseRef] = [`refs/heads/${merge.head}`, `refs/heads/${merge.base}`];
  const { refs } = await listRemote(git, { gitDir, access, names: [headRef, baseRef] });
  const [head, base] = [refs.get(headRef), refs.get(baseRef)];
  if (head === undefined) return refused(`The branch ${merge.head} is no longer in the repository.`);
  if (base === undefined) return refused(`The branch ${merge.base} is no longer in the repository.`);
  const refspecs = [`+${headRef}:refs/docket/head`, `+${baseRef}:refs/docket/base`];
  await fetchRefs(git, { ...access, gitDir, refspecs });
  const isAncestor = { gitDir, args: ['merge-base', '--is-ancestor', head, base], acceptedExitCodes: [1], signal };
  if ((await git.run(isAncestor)).exitCode === 0) return { kind: 'merged', commit: base };

  // both come from outside: their trees have not been checked yet
  for (const one of [head, base]) await checkTree(git, { gitDir, tree: one, limits, signal });
  const common = { gitDir, args: ['merge-base', base, head], acceptedExitCodes: [1], signal };
  if ((await git.run(common)).exitCode === 1) {
    return refused(
      `The branch and ${merge.base} have no common commit. Close the pull request and request the change in a new job.`,
    );
  }
  const tree = await git.run({
    gitDir,
    args: ['merge-tree', '--write-tree', '--no-messages', base, head],
    acceptedExitCodes: [1],
    signal,
  });
  if (tree.exitCode === 1) {
    return refused(
      `The branch changes the same lines as ${merge.base}. Send the job a message to resolve the conflict, or merge by hand.`,
    );
  }
  const commit = await commitMerge(git, gitDir, { merge, tree: tree.stdout.toString().trim(), parents: [base, head] });
  await merge.beforePush();
  const push = ['push', '--porcelain', '--no-progress', '--no-verify', '--no-signed', '--no-follow-tags'];
  const { exitCode } = await git.run({
    gitDir,
    args: [
      ...push,
      `--force-with-lease=${baseRef}:${base}`,
      ...receivePackOf(repository),
      repository,
      `${commit}:${baseRef}`,
    ],
    acceptedExitCodes: [1],
    ...remoteCall(access),
  });
  if (exitCode === 0) return { kind: 'merged', commit };
  return refused(`The branch ${merge.base} moved, or its repository rejected the merge. Try again.`);
}

async function commitMerge(
  git: Git,
  gitDir: string,
  { merge, tree, parents }: { merge: BranchMerge; tree: string; parents: string[] },
): Promise<string> {
  if (!/^[0-9a-f]{40}$/.test(tree)) throw new GitError('other', { message: 'git gave no tree for the merge.' });
  const date = `@${Math.floor(merge.date.getTime() / 1000)} +0000`;
  const identity = { NAME: 'Docket', EMAIL: 'docket@localhost', DATE: date };
  const env = Object.fromEntries(
    ['AUTHOR', 'COMMITTER'].flatMap((role) =>
      Object.entries(identity).map(([part, value]) => [`GIT_${role}_${part}`, value]),
    ),
  );
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const { stdout } = await git.run({
    gitDir,
    args,
    env,
    input: merge.message.replaceAll('\0', ''),
    signal: merge.signal,
  });
  return stdout.toString().trim();
}

function refused(problem: string): MergedBranch {
  return { kind: 'refused', problem };
}
