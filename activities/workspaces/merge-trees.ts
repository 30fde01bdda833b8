import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { listedEntries } from '../git/listed-entries.ts';
import type { JobDirectory } from './job-directory.ts';
import { checkTree, type TreeLimits } from './tree-limits.ts';

interface MergeContext {
  job: JobDirectory;
  limits: TreeLimits;
  signal: AbortSignal;
}

export interface MergeRequest extends MergeContext {
  /** Common base of both sides. */
  base: string;
  ours: string;
  theirs: string;
}

/** A merge as git makes it: files with conflicts have its markers, where it can write some. */
interface GitMerge {
  tree: string;
  /** Files with conflicts, with each byte of a name as one character. */
  conflicts: string[];
  /** Sentences of git about the conflicts. */
  messages: string[];
}

const identity = {
  GIT_AUTHOR_NAME: 'Docket',
  GIT_AUTHOR_EMAIL: 'docket@localhost',
  GIT_AUTHOR_DATE: '@946684800 +0000',
  GIT_COMMITTER_NAME: 'Docket',
  GIT_COMMITTER_EMAIL: 'docket@localhost',
  GIT_COMMITTER_DATE: '@946684800 +0000',
};

/**
 * Returns a tree with both changes; its objects are in the job's git directory. Throws GitError `rejected` if the
 * changes conflict.
 */
export async function mergeTrees(git: Git, request: MergeRequest): Promise<string> {
  const { tree, conflicts } = await merge(git, request);
  if (conflicts.length === 0) return tree;
  throw new GitError('rejected', {
    message:
      'Others changed the same lines of the branch as the agent, so the changes cannot be merged and the branch was left unchanged. Send a follow-up message to let the agent continue from the current branch.',
  });
}

/**
 * Merges like `mergeTrees`, but resolves each conflicting file to their version and lists it in `overruled`. If a
 * conflict is not limited to single files, such as a file against a folder, their whole tree wins.
 */
export async function mergeTreesYielding(
  git: Git,
  request: MergeRequest,
): Promise<{ tree: string; overruled: string[] }> {
  const { tree, conflicts } = await merge(git, request);
  if (conflicts.length === 0) return { tree, overruled: [] };
  const { job, base, ours, theirs, signal } = request;
  const wanted = new Set(conflicts);
  const listed = await Promise.all([base, ours, theirs].map((tree) => entriesOf(git, request, { tree, wanted })));
  // git renames entries that it cannot keep at their own path
  const isPlaced = conflicts.every((path) => listed.some((entries) => entries.has(path)));
  const overruled = conflicts.map((path) => Buffer.from(path, 'latin1').toString());
  if (!isPlaced) return { tree: theirs, overruled };
  const entries = listed.at(-1);
  const index = join(job.gitDir, `yield-${randomUUID()}`);
  const call = { gitDir: job.gitDir, env: { GIT_INDEX_FILE: index }, signal };
  try {
    await git.run({ ...call, args: ['read-tree', tree] });
    const lines = conflicts.map((path) => `${entries?.get(path) ?? `0 ${'0'.repeat(40)}`}\t${path}\0`);
    await git.run({
      ...call,
      args: ['update-index', '-z', '--index-info'],
      input: Buffer.from(lines.join(''), 'latin1'),
    });
    const { stdout } = await git.run({ ...call, args: ['write-tree'] });
    return { tree: stdout.toString().trim(), overruled };
  } finally {
    await rm(index, { force: true });
  }
}

/** Returns the mode, type and object of the wanted files of a tree, by path. */
async function entriesOf(
  git: Git,
  { job, signal }: MergeRequest,
  { tree, wanted }: { tree: string; wanted: ReadonlySet<string> },
): Promise<Map<string, string>> {
  const args = ['ls-tree', '-r', '-z', '--full-tree', tree];
  const { stdout } = await git.run({ gitDir: job.gitDir, args, signal });
  const found = new Map<string, string>();
  for await (const entries of listedEntries(stdout, signal, 'latin1')) {
    for (const entry of entries) {
      const path = entry.slice(entry.indexOf('\t') + 1);
      if (wanted.has(path)) found.set(path, entry.slice(0, entry.indexOf('\t')));
    }
  }
  return found;
}

async function merge(git: Git, request: MergeRequest): Promise<Pick<GitMerge, 'tree' | 'conflicts'>> {
  const { job, base, ours, theirs, limits, signal } = request;
  const { gitDir } = job;
  // it comes from outside: its tree has not been checked yet
  await checkTree(git, { gitDir, tree: theirs, limits, signal });
  if (base === ours || ours === theirs) return { tree: theirs, conflicts: [] };
  if (base === theirs) return { tree: ours, conflicts: [] };
  const begin = await commitToMerge(git, request, { tree: base, parents: [] });
  const commit = (tree: string) => commitToMerge(git, request, { tree, parents: [begin] });
  return mergeCommits(git, request, { ours: await commit(ours), theirs: await commit(theirs) });
}

/** Returns a commit that exists for a merge: git merges commits only. */
export async function commitToMerge(
  git: Git,
  { job: { gitDir }, signal }: MergeContext,
  { tree, parents }: { tree: string; parents: string[] },
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'Merge'];
  return (await git.run({ gitDir, args, env: identity, signal })).stdout.toString().trim();
}

/** Merges two commits from their common history. */
export async function mergeCommits(
  git: Git,
  { job: { gitDir }, limits, signal }: MergeContext,
  { ours, theirs }: { ours: string; theirs: string },
): Promise<GitMerge> {
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', ours, theirs];
  const { stdout, exitCode } = await git.run({ gitDir, args, acceptedExitCodes: [1], signal });
  const listed: string[] = [];
  for await (const entries of listedEntries(stdout, signal, 'latin1')) listed.push(...entries);
  const [tree = ''] = listed.splice(0, 1);
  await checkTree(git, { gitDir, tree, limits, signal });
  if (exitCode !== 1) return { tree, conflicts: [], messages: [] };
  // an empty entry ends the names; of the fields that follow, git's sentences begin like this
  const conflicts = listed.splice(0, listed.indexOf(''));
  const isConflict = (text: string) => /^(?:CONFLICT \([^)]*\): |warning: )/.test(text);
  return { tree, conflicts, messages: listed.filter(isConflict).map((text) => Buffer.from(text, 'latin1').toString()) };
}
