import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { GitError } from '../git/git-error.ts';
import { removeTree } from './remove-tree.ts';
import { longestPath } from './tree-limits.ts';

/** Characters that HFS+ ignores in names: with them in between, `.git` is still `.git`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const separator = Buffer.from('/');
const directoriesAtOnce = 16;

/** Whether git takes a name for `.git`: in other letters, with trailing blanks or dots, as a short name, or behind a backslash. */
export function isGitName(name: string): boolean {
  return partsOf(name).some((part) => /^(?:\.git|git~1)[ .]*(?:$|:)/is.test(part));
}

/** Whether git refuses a symlink of this name. */
export function isModulesName(name: string): boolean {
  return partsOf(name).some(
    (part) => /^(?:\.gitmodules|gitmod~[1-4])[ .]*(?:$|:)/is.test(part) || shortModulesName.test(part),
  );
}

/** The short name of `.gitmodules` that a full folder gives: eight characters, the fewer letters the more digits. */
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
 * Removes from a tree what git must never meet there: repositories inside it, under any spelling, everything that is neither a
 * file nor a directory nor a symlink, and folders deeper than a path may be long. Follows no symlink.
 */
export async function removeForeignEntries(root: string, signal: AbortSignal): Promise<void> {
  const pending = [Buffer.from(root)];
  const longest = Buffer.byteLength(root) + longestPath;
  while (pending.length > 0) {
    if (signal.aborted) throw new GitError('aborted');
    const directories = pending.splice(-directoriesAtOnce);
    const found = await Promise.all(directories.map((directory) => cleanDirectory(directory, { root, longest })));
    for (const below of found) pending.push(...below);
  }
}

/** Cleans one directory and answers the ones inside it. */
async function cleanDirectory(
  directory: Buffer<ArrayBuffer>,
  { root, longest }: { root: string; longest: number },
): Promise<Buffer<ArrayBuffer>[]> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const below: Buffer<ArrayBuffer>[] = [];
  for (const entry of entries) {
    const path = Buffer.concat([directory, separator, entry.name]);
    const isFolder = entry.isDirectory();
    if (!isForeign(entry) && !(isFolder && path.length > longest)) {
      if (isFolder) below.push(path);
    } else if (isFolder) await removeFolder(path, root);
    else await rm(path, { force: true });
  }
  return below;
}

/** From a place near the root, which is foreign itself: what a kill leaves there is met again. */
async function removeFolder(path: Buffer, root: string): Promise<void> {
  const near = join(root, `.git:${randomUUID()}`);
  await rename(path, near);
  await removeTree(near);
}
