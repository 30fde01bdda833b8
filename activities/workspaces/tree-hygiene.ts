import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git/git-error.ts';
import { removeTree } from './remove-tree.ts';
import { maxPathLength } from './tree-limits.ts';

/** Characters that HFS+ ignores in names: a name with them can still mean `.git`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const separator = Buffer.from('/');
const directoriesAtOnce = 16;

/**
 * Reports whether git treats a name as `.git`: in another case, with trailing spaces or dots, as a short name, or after
 * a backslash.
 */
export function isGitName(name: string): boolean {
  return partsOf(name).some((part) => /^(?:\.git|git~1)[ .]*(?:$|:)/is.test(part));
}

/** Reports whether git refuses a symlink with this name. */
export function isModulesName(name: string): boolean {
  return partsOf(name).some(
    (part) => /^(?:\.gitmodules|gitmod~[1-4])[ .]*(?:$|:)/is.test(part) || shortModulesName.test(part),
  );
}

/**
 * Short name of `.gitmodules` in a folder with many similar names: eight characters, with more digits the fewer
 * letters.
 */
const shortModulesName = /^(?=.{8}[ .]*(?:$|:))(?:gi7eb[a-f0-9]|gi7eb|gi7e|gi7|gi|g)?~[1-9]\d*[ .]*(?:$|:)/is;

function partsOf(name: string): string[] {
  return name.replace(ignoredByHfs, '').split('\\');
}

function isForeign(entry: Dirent<Buffer<ArrayBuffer>>): boolean {
  const name = entry.name.toString();
  if (isGitName(name)) return true;
  if (entry.isSymbolicLink()) return isModulesName(name);
  return !entry.isFile() && !entry.isDirectory();
}

/**
 * Removes what git must never see in a tree: nested repositories under any spelling of `.git`, anything that is not a
 * file, directory or symlink, and folders deeper than the longest path allowed. Does not follow symlinks.
 */
export async function removeForeignEntries(root: string, signal: AbortSignal): Promise<void> {
  const pending = [Buffer.from(root)];
  const maxLength = Buffer.byteLength(root) + maxPathLength;
  while (pending.length > 0) {
    if (signal.aborted) throw new GitError('aborted');
    const directories = pending.splice(-directoriesAtOnce);
    const found = await Promise.all(directories.map((directory) => cleanDirectory(directory, { root, maxLength })));
    for (const below of found) pending.push(...below);
  }
}

/** Cleans one directory and returns its subdirectories. */
async function cleanDirectory(
  directory: Buffer<ArrayBuffer>,
  { root, maxLength }: { root: string; maxLength: number },
): Promise<Buffer<ArrayBuffer>[]> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const below: Buffer<ArrayBuffer>[] = [];
  for (const entry of entries) {
    const path = Buffer.concat([directory, separator, entry.name]);
    const isFolder = entry.isDirectory();
    if (!isForeign(entry) && !(isFolder && path.length > maxLength)) {
      if (isFolder) below.push(path);
    } else if (isFolder) await removeFolder(path, root);
    else await rm(path, { force: true });
  }
  return below;
}

/**
 * Removes a folder after moving it directly below the root, to a name that is foreign itself: if the worker is killed,
 * the next run finds the leftovers.
 */
async function removeFolder(path: Buffer, root: string): Promise<void> {
  const near = join(root, `.git:${randomUUID()}`);
  await rename(path, near);
  await removeTree(near);
}
