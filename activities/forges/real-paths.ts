import { lstatSync, readFileSync, realpathSync, type Stats } from 'node:fs';
import { isAbsolute, join, relative, resolve } from 'node:path';

// Synchronous, because each step asks: a promise costs ten times the CPU of looking at a file.

/** The paths by which git enters a repository. Each may be a symbolic link. */
const entries = ['.git', 'objects', 'refs', 'packed-refs', '.git/objects', '.git/refs', '.git/packed-refs'];
const maxLinkBytes = 4_096;

/**
 * Returns all paths, below `root`, that are read when a folder of a directory is read: the given path, the target of
 * its symbolic links, and any part outside of that target. Null when one does not exist or is outside of `root`.
 */
export function realPathsOfDirectory(directory: string, folder: string, root: string): string[] | null {
  return realPathsOf(directory, [join(directory, folder)], root);
}

/** Returns all paths that are read when git reads a repository, whose parts may be in other directories. */
export function realPathsOfRepository(path: string, root: string): string[] | null {
  const link = linkOf(join(path, '.git'));
  const leads = entries.map((entry) => join(path, entry)).filter((lead) => statsOf(lead) !== null);
  return realPathsOf(path, link === null ? leads : [resolve(path, link), ...leads], root);
}

function realPathsOf(path: string, parts: string[], root: string): string[] | null {
  const realRoot = realOrNull(root);
  if (realRoot === null) return null;
  /** Returns null for a dangling link, too. */
  const realPathOf = (one: string) => {
    const real = realOrNull(one);
    if (real === null) return null;
    const below = relative(realRoot, real);
    const isOutside = below === '..' || below.startsWith('../') || isAbsolute(below);
    return isOutside ? null : join(root, below);
  };
  // for a missing path, git would try `path.git` next
  const realPath = realPathOf(path);
  if (realPath === null) return null;
  const paths = [path, realPath];
  for (const part of parts) {
    const lead = realPathOf(part);
    if (lead === null) return null;
    if (lead !== realPath && !lead.startsWith(`${realPath}/`)) paths.push(lead);
  }
  return paths;
}

function realOrNull(path: string): string | null {
  try {
    return realpathSync.native(path);
  } catch {
    return null;
  }
}

function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path);
  } catch {
    return null;
  }
}

/** Returns the repository that a `.git` file points to. */
function linkOf(file: string): string | null {
  const stats = statsOf(file);
  if (stats === null || !stats.isFile() || stats.size > maxLinkBytes) return null;
  try {
    return /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1] ?? null;
  } catch {
    return null;
  }
}
