import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Git } from '../git/git.ts';
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
  // the command refuses literal paths; the prefix keeps a colon from being read as a pattern
  const call = await onTree(request, { GIT_LITERAL_PATHSPECS: '0' });
  const args = ['check-ignore', '-z', '--stdin'];
  const { exitCode } = await git.run({ ...call, args, input: `./${path}\0`, acceptedExitCodes: [1, 128] });
  if (exitCode === 0) return 'ignored';
  return exitCode === 128 ? 'submodule' : null;
}

const mostListed = 4 * 1024 * 1024;

/**
 * Returns the paths of the working copy that no snapshot has: those that ignore rules keep out of every snapshot, or those
 * that the next one adds. A folder stands for all that it holds. Of a list longer than 4 MB, the rest is missing.
 */
export async function untrackedPaths(git: Git, { kind, ...request }: Request & { kind: 'ignored' | 'new' }) {
  const kinds = { ignored: ['--ignored'], new: ['--no-empty-directory'] };
  const args = ['ls-files', '--others', '--exclude-standard', '--directory', ...kinds[kind], '-z'];
  const { stdout } = await git.run({ ...(await onTree(request)), args, maxOutputBytes: mostListed });
  const paths = stdout.toString().split('\0').slice(0, -1);
  return new Set(paths.map((path) => path.replace(/\/$/, '')));
}

async function onTree({ job, signal }: Request, env: Record<string, string> = {}) {
  const tree = await indexedTree(job);
  if (tree === null) throw new GitError('corrupt', { detail: 'The index of the working copy is missing.' });
  return { gitDir: job.gitDir, workTree: job.tree, env: { ...env, GIT_INDEX_FILE: indexPath(job, tree) }, signal };
}

/** Reports whether there are rules or submodules. In most trees without them, asking git would cost more. */
function mayBeLeftOut(job: JobDirectory, path: string): boolean {
  const folders = path.split('/').map((_, depth, parts) => join(job.tree, ...parts.slice(0, depth), '.gitignore'));
  return [...folders, join(job.tree, '.gitmodules'), excludeFile(job)].some(
    (file) => lstatSync(file, { throwIfNoEntry: false }) !== undefined,
  );
}
