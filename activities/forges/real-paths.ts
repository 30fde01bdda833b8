import { lstat, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve } from 'node:path';

/** What git enters a repository by; each may be a symbolic link. */
const entries = ['.git', 'objects', 'refs', 'packed-refs', '.git/objects', '.git/refs', '.git/packed-refs'];
const largestLink = 4_096;

/**
 * The paths on this machine that reading a folder of a directory reads, as paths below `root`: the directory as it is named,
 * where its symbolic links lead, and whatever lies elsewhere. Null when one does not exist, or lies outside of the root.
 */
export async function realPathsOfDirectory(directory: string, folder: string, root: string): Promise<string[] | null> {
  return realPathsOf(directory, [join(directory, folder)], root);
}

/** The same for a repository: git may find its parts elsewhere, too. */
export async function realPathsOfRepository(path: string, root: string): Promise<string[] | null> {
  const link = await linkOf(join(path, '.git'));
  const leads = entries.map((entry) => join(path, entry));
  const found: string[] = link === null ? [] : [resolve(path, link)];
  for (const lead of leads) if (await exists(lead)) found.push(lead);
  return realPathsOf(path, found, root);
}

async function realPathsOf(path: string, parts: string[], root: string): Promise<string[] | null> {
  // git would go on to look for `path.git`
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

/** Null also for a link that leads nowhere. */
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

/** Where a `.git` that is a file says that the repository lies. */
async function linkOf(file: string): Promise<string | null> {
  const stats = await lstat(file).catch(() => null);
  if (stats === null || !stats.isFile() || stats.size > largestLink) return null;
  const text = await readFile(file, 'utf8').catch(() => '');
  return /^gitdir: (.+)$/m.exec(text)?.[1] ?? null;
}
