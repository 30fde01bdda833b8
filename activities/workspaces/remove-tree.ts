import { randomUUID } from 'node:crypto';
import type { Dirent } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../lib/error-code.ts';

/**
 * Path length in bytes above which a folder is moved closer to the root. The system accepts 4,096 bytes, and a name may
 * have 255.
 */
const longPath = 2_000;
const separator = Buffer.from('/');

/**
 * Returns a new path in the trash of a work directory, for what is being deleted and what is not whole yet: if the worker is
 * killed, the sweep of the trash deletes it.
 */
export async function pathInTrash(directory: string): Promise<string> {
  const trash = join(directory, 'trash');
  await mkdir(trash, { recursive: true, mode: 0o700 });
  return join(trash, randomUUID());
}

/**
 * Removes one of our folders with everything in it, including folders nested deeper than the longest path allowed. They
 * are brought nearer first: an `rm` that has failed at one of them still removes others.
 */
export async function removeTree(root: string): Promise<void> {
  await flatten(root);
  await rm(root, { recursive: true, force: true });
}

/** Removes everything in one of our folders. The folder itself stays: a disk may be mounted there. */
export async function emptyTree(root: string): Promise<void> {
  await flatten(root);
  for (const { name } of await entriesOf(Buffer.from(root)))
    await rm(Buffer.concat([Buffer.from(root), separator, name]), { recursive: true, force: true });
}

/** Moves deeply nested folders directly below the root, so that every entry has a usable path. */
async function flatten(root: string): Promise<void> {
  const pending = [Buffer.from(root)];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await entriesOf(folder)) {
      if (!entry.isDirectory()) continue;
      const path = Buffer.concat([folder, separator, entry.name]);
      const removed = path.length > longPath ? Buffer.from(join(root, randomUUID())) : path;
      if (removed !== path) await rename(path, removed);
      pending.push(removed);
    }
  }
}

/** Returns no entries for a folder that is gone or unreadable; an unreadable folder can still be removed if it is empty. */
async function entriesOf(folder: Buffer): Promise<Dirent<Buffer>[]> {
  try {
    return await readdir(folder, { withFileTypes: true, encoding: 'buffer' });
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EACCES') return [];
    throw error;
  }
}
