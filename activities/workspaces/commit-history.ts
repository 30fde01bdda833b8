import { randomUUID } from 'node:crypto';
import { link, rm } from 'node:fs/promises';
import type { Git, GitResult } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { indexedTree, indexPath, type JobBase, type JobDirectory } from './job-directory.ts';

export interface HistoryRequest {
  /** Git directory of the job, which borrows the mirror's objects. */
  job: JobDirectory;
  base: JobBase;
  /** Git directory with the repository's branches and tags. */
  mirror: string;
  signal: AbortSignal;
}

const printTimeoutMs = 20_000;

/** Git's history of a job's repository, as its agent sees it. Commits are full ids of `find`. Errors: GitError. */
export type CommitHistory = ReturnType<typeof createCommitHistory>;

/** Creates the reader of a job's history. No command contacts a server or runs a program that a repository names. */
export function createCommitHistory(git: Git, { job, base, mirror, signal }: HistoryRequest) {
  const { baseCommit } = base;

  async function commitOf(expression: string): Promise<string | null> {
    const args = ['rev-parse', '--verify', '--quiet', `${expression}^{commit}`];
    const { exitCode, stdout } = await git.run({ gitDir: mirror, args, acceptedExitCodes: [1, 128], signal });
    return exitCode === 0 ? stdout.toString().trim() : null;
  }

  /** The mirror also has commits that were pushed and then withdrawn, which are no longer part of its history. */
  async function isReachable(commit: string): Promise<boolean> {
    const isAncestor = await git.run({
      gitDir: mirror,
      args: ['merge-base', '--is-ancestor', commit, baseCommit],
      acceptedExitCodes: [1],
      timeoutMs: printTimeoutMs,
      signal,
    });
    if (isAncestor.exitCode === 0) return true;
    const { stdout } = await git.run({
      gitDir: mirror,
      args: ['for-each-ref', `--contains=${commit}`, '--count=1', '--format=%(refname)', 'refs/heads', 'refs/tags'],
      timeoutMs: printTimeoutMs,
      signal,
    });
    return stdout.length > 0;
  }

  return {
    baseCommit,
    /** Returns the commit that a branch, a tag or an id names; null unless a branch or a tag of the repository has it. */
    async find(name: string): Promise<string | null> {
      const isId = /^[0-9a-f]{4,40}$/.test(name);
      const named = name.length === 40 && isId ? [] : [`refs/heads/${name}`, `refs/tags/${name}`];
      for (const expression of [...named, ...(isId ? [name] : [])]) {
        const commit = await commitOf(expression);
        if (commit !== null) return (await isReachable(commit)) ? commit : null;
      }
      return null;
    },
    /** Returns the ancestor of a commit, by first parents; null when it has none so far back. */
    ancestor: (commit: string, generations: number): Promise<string | null> => commitOf(`${commit}~${generations}`),
    /** Returns the type of a commit's entry at a path: `blob` for a file, `tree` for a folder, null if there is none. */
    async typeAt(commit: string, path: string): Promise<string | null> {
      const args = ['cat-file', '-t', `${commit}:${path}`];
      const { exitCode, stdout } = await git.run({ gitDir: mirror, args, acceptedExitCodes: [128], signal });
      return exitCode === 0 ? stdout.toString().trim() : null;
    },
    /** Returns the tree of the working copy as it is now. */
    async currentTree(): Promise<string> {
      const before = await indexedTree(job);
      if (before === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
      // the next snapshot removes the copy if the worker is killed here
      const copy = indexPath(job, randomUUID());
      await link(indexPath(job, before), copy);
      try {
        const onTree = { gitDir: job.gitDir, workTree: job.tree, env: { GIT_INDEX_FILE: copy }, signal };
        await git.run({ ...onTree, args: ['add', '--all', '--no-warn-embedded-repo'] });
        return (await git.run({ ...onTree, args: ['write-tree'] })).stdout.toString().trim();
      } finally {
        await rm(copy, { force: true });
      }
    },
    // the job's own git directory overrides the attributes of the repository
    /** Runs a git command that prints, up to a number of bytes and for a limited time. */
    print: (args: readonly string[], maxOutputBytes: number): Promise<GitResult> =>
      git.run({
        gitDir: job.gitDir,
        args,
        maxOutputBytes,
        acceptedExitCodes: [128],
        timeoutMs: printTimeoutMs,
        signal,
      }),
  };
}
