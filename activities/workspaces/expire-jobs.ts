import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { tryLock } from '../../lib/file-lock.ts';
import { discardJobDirectory, namedJobDirectory } from './job-directory.ts';
import { removeJobFolder } from './job-disks.ts';

const removedAtOnce = 20;
const trashAfterMs = 60 * 60_000;

/** Removes expired working copies, a few at a time, and the leftovers of interrupted removals. */
export async function expireJobs(directory: string, keepMs: number): Promise<void> {
  const oldest = Date.now() - keepMs;
  const expired = await olderThan(join(directory, 'jobs'), oldest);
  for (const name of expired.slice(0, removedAtOnce)) {
    const isStillUnused = async () => (await olderThan(join(directory, 'jobs'), oldest)).includes(name);
    await discardIfFree(directory, name, isStillUnused);
  }
  for (const name of await olderThan(join(directory, 'trash'), Date.now() - trashAfterMs)) {
    await removeJobFolder(join(directory, 'trash', name));
  }
}

/** Returns the names of all working copies. */
export async function listJobs(directory: string): Promise<string[]> {
  return readdir(join(directory, 'jobs')).catch(() => []);
}

/**
 * Removes a working copy unless it is locked. Calls `mayGo` while holding the lock and leaves the copy in place if it
 * returns false.
 */
export async function discardIfFree(directory: string, name: string, mayGo: () => Promise<boolean>): Promise<boolean> {
  const job = namedJobDirectory(directory, name);
  const lock = tryLock(job.lock);
  if (lock === null) return false;
  try {
    if (!(await mayGo())) return false;
    await discardJobDirectory(directory, job);
    return true;
  } finally {
    lock.remove();
  }
}

async function olderThan(folder: string, timeMs: number): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const times = await Promise.all(names.map(async (name) => await stat(join(folder, name)).catch(() => null)));
  return names.filter((_, at) => (times[at]?.mtimeMs ?? Infinity) < timeMs);
}
