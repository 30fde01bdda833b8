import { setTimeout as delay } from 'node:timers/promises';
import { fetchHead, isAncestor, remoteHead, treeOf } from './branch-head.ts';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { gitFailureOf, refusedPushOf } from '../git/git-failure.ts';
import type { JobDirectory } from './job-directory.ts';
import { mergeTrees } from './merge-trees.ts';
import { receivePackOf, remoteCall, type RepositoryAccess } from '../git/remote.ts';
import type { TreeLimits } from './tree-limits.ts';

/** The commit that a job's first turn creates on top of the base commit. */
export interface FirstCommit extends RepositoryAccess {
  job: JobDirectory;
  branch: string;
  baseCommit: string;
  tree: string;
  message: string;
  author: { name: string; email: string; date: Date };
}

export interface PublishRequest extends FirstCommit {
  limits: TreeLimits;
  /** Commit and tree that an earlier turn published; null before the first one. */
  published: { commit: string; tree: string } | null;
  /** Whether the tree contains the base commit by a merge, so that the branch has to contain it, too. */
  mergesBase?: boolean;
  beforePush(): Promise<void>;
}

const jobTrailer = /^Agent-Job: .+$/gm;

const maxTries = 3;
/** Time that a push stopped on this side may still take to reach the remote. */
const latePushMs = 1_000;

export interface PublishedBranch {
  commit: string;
  /** Tree of the commit: the job's, merged with what others did to the branch. */
  tree: string;
}

/** Commits a tree whose objects are in the job's git directory, and moves the branch to that commit exactly once. */
export async function publishBranch(git: Git, request: PublishRequest): Promise<PublishedBranch> {
  const ref = refOf(request.branch);
  if (request.published !== null) return addToBranch(git, request, { ref, published: request.published });
  return { commit: await makeBranch(git, request, ref), tree: request.tree };
}

/**
 * Deletes a branch that `publishBranch` created, or was about to create when it was stopped, unless others have pushed
 * to it since. Returns whether there was one.
 */
export async function withdrawBranch(git: Git, request: FirstCommit): Promise<boolean> {
  const ref = refOf(request.branch);
  const commit = await commitTree(git, request, { tree: request.tree, parents: [request.baseCommit] });
  for (const waitMs of [0, latePushMs]) {
    await delay(waitMs, undefined, { signal: request.signal });
    const head = await remoteHead(git, request, ref);
    if (head !== null && head !== commit) return false;
    if (head === null) continue;
    const refused = await push(git, request, { ref, commit: '', lease: commit });
    if (refused !== null) throw refused;
    return true;
  }
  return false;
}

/** Publishes one commit on top of the base commit. */
async function makeBranch(git: Git, request: PublishRequest, ref: string): Promise<string> {
  const commit = await commitTree(git, request, { tree: request.tree, parents: [request.baseCommit] });
  const head = await remoteHead(git, request, ref);
  if (head === commit) return commit;
  const lease = await leaseOf(git, request, { ref, head, commit });
  await request.beforePush();
  const refused = await push(git, request, { ref, commit, lease });
  if (refused === null) return commit;
  // Another attempt may have pushed the same commit first
  if (refused.kind === 'stale' && (await remoteHead(git, request, ref)) === commit) return commit;
  throw refused;
}

/**
 * Adds a commit to the current head of the branch. Skips a change that the branch already has, regardless of its
 * author.
 */
async function addToBranch(
  git: Git,
  request: PublishRequest,
  { ref, published }: { ref: string; published: { commit: string; tree: string } },
): Promise<PublishedBranch> {
  const { job, limits, signal } = request;
  for (let tried = 0; tried < maxTries; tried += 1) {
    const head = await remoteHead(git, request, ref);
    if (head === null) return { commit: await makeBranch(git, request, ref), tree: request.tree };
    await fetchHead(git, request, ref);
    const theirs = await treeOf(git, request, head);
    const tree = await mergeTrees(git, { job, base: published.tree, ours: request.tree, theirs, limits, signal });
    const { baseCommit, mergesBase = false } = request;
    const isMerge = mergesBase && !(await isAncestor(git, request, { commit: baseCommit, of: head }));
    if (tree === theirs && !isMerge) return { commit: head, tree };
    const commit = await commitTree(git, request, { tree, parents: isMerge ? [head, baseCommit] : [head] });
    await request.beforePush();
    const refused = await push(git, request, { ref, commit, lease: head });
    if (refused === null) return { commit, tree };
    if (refused.kind !== 'stale') throw refused;
  }
  throw new GitError('rejected', {
    message: "Others pushed to the branch during each of the agent's three attempts to push. Send the message again.",
  });
}

function refOf(branch: string): string {
  if (!/^[A-Za-z0-9_][A-Za-z0-9._/-]*$/.test(branch) || /\.\.|\/\/|\/\.|\.lock(?:\/|$)|[./]$/.test(branch)) {
    throw new GitError('rejected', { message: 'git does not accept this branch name.' });
  }
  return `refs/heads/${branch}`;
}

async function commitTree(
  git: Git,
  { job, message, author, signal }: FirstCommit,
  { tree, parents }: { tree: string; parents: string[] },
): Promise<string> {
  const date = `@${Math.floor(author.date.getTime() / 1000)} +0000`;
  const env = {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_AUTHOR_DATE: date,
    GIT_COMMITTER_NAME: author.name,
    GIT_COMMITTER_EMAIL: author.email,
    GIT_COMMITTER_DATE: date,
  };
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-F', '-'];
  const { stdout } = await git.run({ gitDir: job.gitDir, args, env, input: message.replaceAll('\0', ''), signal });
  return stdout.toString().trim();
}

/** Returns what the branch must still be at when the push arrives: nothing, or an earlier commit of this job. */
async function leaseOf(
  git: Git,
  request: PublishRequest,
  { ref, head, commit }: { ref: string; head: string | null; commit: string },
): Promise<string> {
  if (head === null) return '';
  await fetchHead(git, request, ref);
  const [theirs, ours] = await Promise.all([readCommit(git, request, head), readCommit(git, request, commit)]);
  if (theirs.parents.join() === ours.parents.join() && ours.trailer !== '' && theirs.trailer === ours.trailer)
    return head;
  throw new GitError('stale');
}

async function readCommit(
  git: Git,
  { job, signal }: PublishRequest,
  commit: string,
): Promise<{ parents: string[]; trailer: string }> {
  const { stdout } = await git.run({ gitDir: job.gitDir, args: ['cat-file', 'commit', commit], signal });
  const text = stdout.toString();
  const header = text.slice(0, text.indexOf('\n\n'));
  const parents = [...header.matchAll(/^parent ([0-9a-f]{40})$/gm)].map(([, parent = '']) => parent);
  return { parents, trailer: text.slice(header.length).match(jobTrailer)?.at(-1) ?? '' };
}

/**
 * Pushes with a lease; an empty `commit` deletes the branch. Returns the remote's refusal, or null if the remote
 * accepted the push. Git also exits with 1 when the connection is lost, which reveals nothing about the branch: that
 * case throws, like any other git failure.
 */
async function push(
  git: Git,
  request: FirstCommit,
  { ref, commit, lease }: { ref: string; commit: string; lease: string },
): Promise<GitError | null> {
  const { stdout, stderr, exitCode } = await git.run({
    gitDir: request.job.gitDir,
    args: [
      'push',
      '--porcelain',
      '--no-progress',
      '--no-verify',
      '--no-signed',
      '--no-follow-tags',
      '--no-recurse-submodules',
      `--force-with-lease=${ref}:${lease}`,
      ...receivePackOf(request.repository),
      request.repository,
      `${commit}:${ref}`,
    ],
    acceptedExitCodes: [1],
    ...remoteCall(request),
  });
  const refusal = refusedPushOf({ stdout, stderr });
  if (refusal === null && exitCode !== 0) throw gitFailureOf({ stderr, secrets: [] });
  return refusal;
}
