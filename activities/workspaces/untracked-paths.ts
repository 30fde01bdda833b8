import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Git, GitCall, GitResult } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { indexedTree, indexPath, type JobDirectory } from './job-directory.ts';
import { excludeFile } from './job-layer.ts';

/** Why a path stays out of the snapshots of its working copy; null if it does not. Tracked files are not ignored. */
export type LeftOut = 'ignored' | 'submodule' | null;

interface Request {
  job: JobDirectory;
  signal: AbortSignal;
}

/** Returns why a path of the working copy stays out of its snapshots. */
export async function leftOut(git: Git, { path, ...request }: Request & { path: string }): Promise<LeftOut> {
  if (!mayBeLeftOut(request.job, path)) return null;
  const args = ['check-ignore', '-z', '--stdin'];
  // the command refuses literal paths; the prefix keeps a colon from being read as a pattern
  const call = { args, input: `./${path}\0`, env: { GIT_LITERAL_PATHSPECS: '0' }, acceptedExitCodes: [1, 128] };
  const result = await askGit(git, request, call);
  if (result?.exitCode === 0) return 'ignored';
  return result?.exitCode === 128 ? 'submodule' : null;
}

const maxListed = 4 * 1024 * 1024;

/**
 * Returns the paths of the working copy that no snapshot has: those that ignore rules keep out of every snapshot, or those
 * that the next one adds. A folder stands for all that it holds. A list is cut off after 4 MB.
 */
export async function untrackedPaths(
  git: Git,
  { kind, ...request }: Request & { kind: 'ignored' | 'new' },
): Promise<Set<string>> {
  const kinds = { ignored: ['--ignored'], new: ['--no-empty-directory'] };
  const args = ['ls-files', '--others', '--exclude-standard', '--directory', ...kinds[kind], '-z'];
  const result = await askGit(git, request, { args, maxOutputBytes: maxListed });
  const paths = result?.stdout.toString().split('\0').slice(0, -1) ?? [];
  return new Set(paths.map((path) => path.replace(/\/$/, '')));
}

const timeoutMs = 5_000;

/**
 * Runs git on the working copy. Returns null if it fails: commands of a job may have made a tree that git cannot list, such as
 * one with a pipe named `.gitignore`. The next snapshot repairs it, and the answer only improves an output.
 */
async function askGit(
  git: Git,
  { job, signal }: Request,
  { env, ...call }: Pick<GitCall, 'args' | 'input' | 'env' | 'acceptedExitCodes' | 'maxOutputBytes'>,
): Promise<GitResult | null> {
  const tree = await indexedTree(job);
  if (tree === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
  const onTree = { gitDir: job.gitDir, workTree: job.tree, env: { ...env, GIT_INDEX_FILE: indexPath(job, tree) } };
  try {
    return await git.run({ ...onTree, ...call, timeoutMs, signal });
  } catch (error) {
    if (!(error instanceof GitError) || error.kind === 'aborted') throw error;
    return null;
  }
}

/** Reports whether there are rules or submodules. In most trees without them, asking git would cost more. */
function mayBeLeftOut(job: JobDirectory, path: string): boolean {
  const folders = path.split('/').map((_, depth, parts) => join(job.tree, ...parts.slice(0, depth), '.gitignore'));
  return [...folders, join(job.tree, '.gitmodules'), excludeFile(job)].some(
    (file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined,
  );
}
