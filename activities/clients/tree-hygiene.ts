import type { Dirent } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { GitError } from './git-error.ts';

/** Characters that HFS+ ignores in names: with them in between, `.git` is still `.git`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;
const separator = Buffer.from('/');
const directoriesAtOnce = 16;

/** Whether a name is `.git` on some file system: in other letters, with trailing blanks or dots, or as a short name. */
export function isGitName(name: string): boolean {
  return /^(?:\.git|git~1)(?:[ .]*|[ .]*[:\\].*)$/is.test(name.replace(ignoredByHfs, ''));
}

/** Whether git refuses a symlink of this name. */
function isModulesName(name: string): boolean {
  return /^(?:\.gitmodules|gitmod~[1-4]|gi7eb[a-f0-9]~\d+)(?:[ .]*|[ .]*:.*)$/i.test(name.replace(ignoredByHfs, ''));
}

function isForeign(entry: Dirent<Buffer<ArrayBuffer>>): boolean {
  const name = entry.name.toString();
  if (isGitName(name)) return true;
  if (entry.isSymbolicLink()) return isModulesName(name);
  return !entry.isFile() && !entry.isDirectory();
}

/**
 * Removes from a tree what git must never meet there: repositories inside it, under any spelling, and everything that is
 * neither a file nor a directory nor a symlink. Follows no symlink.
 */
export async function removeForeignEntries(root: string, signal: AbortSignal): Promise<void> {
  const pending = [Buffer.from(root)];
  while (pending.length > 0) {
    if (signal.aborted) throw new GitError('aborted');
    const directories = pending.splice(-directoriesAtOnce);
    const found = await Promise.all(directories.map(cleanDirectory));
    for (const below of found) pending.push(...below);
  }
}

/** Cleans one directory and answers the ones inside it. */
async function cleanDirectory(directory: Buffer<ArrayBuffer>): Promise<Buffer<ArrayBuffer>[]> {
  const entries = await readdir(directory, { withFileTypes: true, encoding: 'buffer' });
  const below: Buffer<ArrayBuffer>[] = [];
  for (const entry of entries) {
    const path = Buffer.concat([directory, separator, entry.name]);
    if (isForeign(entry)) await rm(path, { recursive: true, force: true });
    else if (entry.isDirectory()) below.push(path);
  }
  return below;
}
