import { lstat, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** The paths by which git enters a repository. Each may be a symbolic link. */
const entries = ['.git', 'objects', 'refs', 'packed-refs', '.git/objects', '.git/refs', '.git/packed-refs'];
const largestLink = 4_096;

/**
 * Returns all paths, below `root`, that are read when a folder of a directory is read: the given path, the target of
 * its symbolic links, and any part outside of that target. Null when one does not exist or is outside of `root`.
 */
export async function realPathsOfDirectory(directory: string, folder: string, root: string): Promise<string[] | null> {
  return realPathsOf(directory, [join(directory, folder)], root);
}

/** Returns all paths that are read when git reads a repository, whose parts may be in other directories. */
export async function realPathsOfRepository(path: string, root: string): Promise<string[] | null> {
  const link = await linkOf(join(path, '.git'));
  const leads = entries.map((entry) => join(path, entry));
  const found: string[] = link === null ? [] : [resolve(path, link)];
  for (const lead of leads) if (await exists(lead)) found.push(lead);
  return realPathsOf(path, found, root);
}

async function realPathsOf(path: string, parts: string[], root: string): Promise<string[] | null> {
  // for a missing path, git would try `path.git` next
  const realPath = await realPathOf(path, root);
  if (realPath === null) return null;
  const paths = [path, realPath];
  for (const part of parts) {
    const lead = await realPathOf(part, root);
    if (lead === null) return null;
    if (lead !== realPath && !lead.startsWith(`${realPath}/`)) paths.push(lead);
  }
  return paths;
}

/** Returns null for a dangling link, too. */
async function realPathOf(path: string, root: string): Promise<string | null> {
  const [real, realRoot] = await Promise.all([realOrNull(path), realOrNull(root)]);
  if (real === null || realRoot === null) return null;
  const below = relative(realRoot, real);
  const isOutside = below === '..' || below.startsWith('../') || isAbsolute(below);
  return isOutside ? null : join(root, below);
}

async function realOrNull(path: string): Promise<string | null> {
  return realpath(path).catch(() => null);
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Returns the repository that a `.git` file points to. */
async function linkOf(file: string): Promise<string | null> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null || !stats.isFile() || stats.size > largestLink) return null;
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^gitdir: (.+)$/m.exec(text)?.[1] ?? null;
}
