import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { gitFailureOf, refusedPushOf } from '../git/git-failure.ts';
import { listedEntries } from '../git/listed-entries.ts';
import { fetchRefs, listRemote, receivePackOf, remoteCall, type RemoteAccess } from '../git/remote.ts';
import {
  branchMoved,
  conflictWith,
  type MergedBranch,
  type MergeMethod,
  type Obstacle,
  type RefusedMerge,
} from '../forges/merge-pull-request.ts';
import { pathInTrash } from './remove-tree.ts';
import { checkTree, type TreeLimits } from './tree-limits.ts';

/** Two branches of a local repository. */
export interface BranchPair {
  repository: string;
  head: string;
  base: string;
  /** The last commit of the head branch that a person saw: another one is refused. Null accepts any. */
  headCommit?: string | null;
  signal: AbortSignal;
}

export interface BranchMerge extends BranchPair {
  /** A squash adds one commit with the branch's changes instead of a merge commit. */
  method: MergeMethod;
  /** Message of the merge commit. Message and date are fixed so that every attempt produces the same commit. */
  message: string;
  date: Date;
  /** Runs immediately before the push and may throw. */
  beforePush(): Promise<void>;
}

interface MergeSettings {
  directory: string;
  limits: TreeLimits;
}

const maxConflicts = 100;

/**
 * Merges one branch of a local repository into another. Idempotent: a second run finds the branch already merged. A
 * conflict is refused and leaves the repository unchanged.
 */
export function mergeBranch(git: Git, settings: MergeSettings, merge: BranchMerge): Promise<MergedBranch> {
  return inGitDir(settings, async (gitDir) => {
    const tried = await tryMerge(git, { gitDir, limits: settings.limits }, merge);
    return tried.kind === 'ready' ? pushMerge(git, gitDir, merge, tried) : tried;
  });
}

/** Returns why a branch could not be merged into another; null if it could. */
export function checkMerge(git: Git, settings: MergeSettings, pair: BranchPair): Promise<RefusedMerge | null> {
  return inGitDir(settings, async (gitDir) => {
    const tried = await tryMerge(git, { gitDir, limits: settings.limits }, pair);
    return tried.kind === 'refused' ? tried : null;
  });
}

/** A merged branch of any repository. */
export interface MergedHead extends RemoteAccess {
  head: string;
  /** The commit that was merged; null for the branch's present one. */
  headCommit: string | null;
}

/** Deletes a merged branch unless it has moved; a branch that is gone already is fine. */
export function deleteBranch(
  git: Git,
  settings: MergeSettings,
  { head, headCommit, ...access }: MergedHead,
): Promise<void> {
  return inGitDir(settings, async (gitDir) => {
    const { repository } = access;
    const ref = `refs/heads/${head}`;
    const commit = (await listRemote(git, { gitDir, access, names: [ref] })).refs.get(ref);
    if (commit === undefined || (headCommit !== null && commit !== headCommit)) return;
    const lease = `--force-with-lease=${ref}:${commit}`;
    const args = [...pushOptions, lease, ...receivePackOf(repository), repository, `:${ref}`];
    await git.run({ gitDir, args, acceptedExitCodes: [1], ...remoteCall(access) });
  });
}

const pushOptions = ['push', '--porcelain', '--no-progress', '--no-verify', '--no-signed', '--no-follow-tags'];

async function inGitDir<Result>(
  { directory }: MergeSettings,
  work: (gitDir: string) => Promise<Result>,
): Promise<Result> {
  const gitDir = await pathInTrash(directory);
  try {
    await prepareGitDir(gitDir);
    return await work(gitDir);
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}

async function prepareGitDir(gitDir: string): Promise<void> {
  await mkdir(join(gitDir, 'objects'), { recursive: true, mode: 0o700 });
  await mkdir(join(gitDir, 'refs'));
  await mkdir(join(gitDir, 'info'));
  await writeFile(join(gitDir, 'HEAD'), 'ref: refs/heads/docket\n');
  await writeFile(join(gitDir, 'config'), '[core]\n  repositoryFormatVersion = 0\n  bare = true\n');
  // ignore the merge attributes that the branches define
  await writeFile(join(gitDir, 'info', 'attributes'), '* !merge !diff -text\n');
}

/** Both commits and the tree of their merge. */
interface ReadyMerge {
  kind: 'ready';
  head: string;
  base: string;
  tree: string;
}

async function tryMerge(
  git: Git,
  { gitDir, limits }: { gitDir: string; limits: TreeLimits },
  pair: BranchPair,
): Promise<ReadyMerge | MergedBranch> {
  const { repository, signal } = pair;
  const access = { repository, credential: null, signal };
  const [headRef, baseRef] = [`refs/heads/${pair.head}`, `refs/heads/${pair.base}`];
  const { refs } = await listRemote(git, { gitDir, access, names: [headRef, baseRef] });
  const [head, base] = [refs.get(headRef), refs.get(baseRef)];
  if (head === undefined) return refused(`The branch ${pair.head} is no longer in the repository.`);
  if (base === undefined) return refused(`The branch ${pair.base} is no longer in the repository.`);
  const refspecs = [`+${headRef}:refs/docket/head`, `+${baseRef}:refs/docket/base`];
  await fetchRefs(git, { ...access, gitDir, refspecs });
  const isAncestor = { gitDir, args: ['merge-base', '--is-ancestor', head, base], acceptedExitCodes: [1], signal };
  if ((await git.run(isAncestor)).exitCode === 0) return { kind: 'merged', commit: base };

  if (typeof pair.headCommit === 'string' && head !== pair.headCommit) return refused(branchMoved);
  // both come from outside: their trees have not been checked yet
  for (const one of [head, base]) await checkTree(git, { gitDir, tree: one, limits, signal });
  const common = { gitDir, args: ['merge-base', base, head], acceptedExitCodes: [1], signal };
  if ((await git.run(common)).exitCode === 1) {
    return refused(
      `The branch and ${pair.base} have no common commit. Close the pull request and request the change in a new job.`,
    );
  }
  const tree = await git.run({
    gitDir,
    args: ['merge-tree', '--write-tree', '--no-messages', '--name-only', '-z', base, head],
    acceptedExitCodes: [1],
    signal,
  });
  const names: string[] = [];
  for await (const entries of listedEntries(tree.stdout, signal)) names.push(...entries);
  const [merged = '', ...conflicts] = names;
  if (tree.exitCode === 1) {
    return refused(conflictWith(pair.base), conflicts.slice(0, maxConflicts));
  }
  return { kind: 'ready', head, base, tree: merged };
}

async function pushMerge(
  git: Git,
  gitDir: string,
  merge: BranchMerge,
  { head, base, tree }: ReadyMerge,
): Promise<MergedBranch> {
  const { repository, method, signal } = merge;
  const treeOfBase = await git.run({ gitDir, args: ['rev-parse', `${base}^{tree}`], signal });
  // an earlier attempt has pushed the squash
  if (method === 'squash' && treeOfBase.stdout.toString().trim() === tree) return { kind: 'merged', commit: base };
  const parents = method === 'squash' ? [base] : [base, head];
  const commit = await commitMerge(git, gitDir, { merge, tree, parents });
  await merge.beforePush();
  const baseRef = `refs/heads/${merge.base}`;
  const { stdout, stderr, exitCode } = await git.run({
    gitDir,
    args: [
      ...pushOptions,
      `--force-with-lease=${baseRef}:${base}`,
      ...receivePackOf(repository),
      repository,
      `${commit}:${baseRef}`,
    ],
    acceptedExitCodes: [1],
    ...remoteCall({ repository, credential: null, signal }),
  });
  if (exitCode === 0) return { kind: 'merged', commit };
  const failure = refusedPushOf({ stdout, stderr }) ?? gitFailureOf({ stderr, secrets: [] });
  return refused(failure.kind === 'stale' ? `The branch ${merge.base} moved. Try again.` : failure.message);
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

function refused(why: Obstacle | string, conflicts: string[] = []): RefusedMerge {
  const obstacle = typeof why === 'string' ? { problem: why, cause: null } : why;
  return { kind: 'refused', ...obstacle, conflicts };
}
