import type { Git } from '../git/git.ts';
import { GitError } from '../git/git-error.ts';
import { listedEntries } from '../git/listed-entries.ts';
import type { TreeSize } from './job-disks.ts';

/** Limits of a working copy. */
export interface TreeLimits {
  bytes: number;
  files: number;
  /** Longest chain of nested folders, including the file. */
  depth: number;
}

export const defaultTreeLimits: TreeLimits = { bytes: 2e9, files: 200_000, depth: 100 };

/** Longest path below one of our folders, in bytes, that most file systems accept. */
export const maxPathLength = 3_500;
/** Bytes of a listed file without its path. */
const bytesOfEntry = 64;
const usualPath = 200;

/**
 * Checks the size of a tree before any of it is written to disk: a few hundred bytes of objects can expand to any
 * number of files. Returns the size. Throws GitError `too-large` that names the limit.
 */
export async function checkTree(
  git: Git,
  { gitDir, tree, limits, signal }: { gitDir: string; tree: string; limits: TreeLimits; signal: AbortSignal },
): Promise<TreeSize> {
  const listed = await git.run({
    gitDir,
    args: ['ls-tree', '-r', '-z', '-l', '--full-tree', tree],
    maxOutputBytes: limits.files * (bytesOfEntry + usualPath) + maxPathLength,
    signal,
  });
  let files = 0;
  let bytes = 0;
  for await (const entries of listedEntries(listed.stdout, signal, 'latin1')) {
    for (const entry of entries) {
      const path = entry.slice(entry.indexOf('\t') + 1);
      files += 1;
      bytes += Number(/ (\d+)$/.exec(entry.slice(0, entry.indexOf('\t')))?.[1] ?? 0);
      if (path.split('/').length > limits.depth || path.length > maxPathLength)
        throw tooLarge(`has a path of more than ${limits.depth} levels or ${maxPathLength} bytes`, 'DEPTH');
    }
  }
  if (listed.truncated || files > limits.files) throw tooLarge(`has more than ${limits.files} files`, 'FILES');
  if (bytes > limits.bytes) throw tooLarge(`takes more than ${Math.floor(limits.bytes / 1e6)} MB on disk`, 'MB');
  return { bytes, files };
}

export function tooLarge(what: string, setting: 'DEPTH' | 'FILES' | 'MB'): GitError {
  return new GitError('too-large', {
    message: `The repository ${what}. To allow it, raise the worker's DOCKET_REPOSITORY_${setting}.`,
  });
}
