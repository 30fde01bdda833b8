import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import type { TreeSize } from './job-disks.ts';

/** What a working copy may be at most. */
export interface TreeLimits {
  bytes: number;
  files: number;
  /** Folders within folders, the file included. */
  depth: number;
}

export const defaultTreeLimits: TreeLimits = { bytes: 2e9, files: 200_000, depth: 100 };

/** What most file systems take as a path below a folder of ours. */
export const longestPath = 3_500;
/** The listing of one file, but for its path. */
const bytesOfEntry = 64;
const usualPath = 200;

/**
 * Checks what a tree would become on the disk before any of it is written: a few hundred bytes of objects can stand for any
 * number of files. Answers its size. Throws GitError `too-large` that names the limit.
 */
export async function checkTree(
  git: Git,
  { gitDir, tree, limits, signal }: { gitDir: string; tree: string; limits: TreeLimits; signal: AbortSignal },
): Promise<TreeSize> {
  const listed = await git.run({
    gitDir,
    args: ['ls-tree', '-r', '-z', '-l', '--full-tree', tree],
    maxOutputBytes: limits.files * (bytesOfEntry + usualPath) + longestPath,
    signal,
  });
  let files = 0;
  let bytes = 0;
  for (const entry of listed.stdout.toString('latin1').split('\0')) {
    if (entry === '') continue;
    const path = entry.slice(entry.indexOf('\t') + 1);
    files += 1;
    bytes += Number(/ +(\d+)$/.exec(entry.slice(0, entry.indexOf('\t')))?.[1] ?? 0);
    if (path.split('/').length > limits.depth || path.length > longestPath)
      throw tooLarge(`holds a path of more than ${limits.depth} levels or ${longestPath} bytes`, 'DEPTH');
  }
  if (listed.truncated || files > limits.files) throw tooLarge(`holds more than ${limits.files} files`, 'FILES');
  if (bytes > limits.bytes) throw tooLarge(`takes more than ${Math.floor(limits.bytes / 1e6)} MB on the disk`, 'MB');
  return { bytes, files };
}

export function tooLarge(what: string, setting: 'DEPTH' | 'FILES' | 'MB'): GitError {
  return new GitError('too-large', {
    message: `The repository ${what}; raise DOCKET_REPOSITORY_${setting} of the worker if it is to take it.`,
  });
}
