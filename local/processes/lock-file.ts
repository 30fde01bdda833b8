import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LockFile extends Disposable {
  readonly path: string;
}

const busy = 5; // SQLITE_BUSY
const pollMs = 250;

/**
 * Acquires a lock that the kernel releases when this process ends for any reason: an exclusive transaction on a SQLite
 * file. Returns null when another process, or another part of this one, holds it.
 */
export function tryLock(path: string): LockFile | null {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma journal_mode = memory; begin exclusive');
  } catch (error) {
    database.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === busy) return null;
    throw error;
  }
  return { path, [Symbol.dispose]: () => database.close() };
}

/** Waits for the lock until `signal` aborts. Calls `onWait` once if the lock is not free at first. */
export async function waitForLock(path: string, onWait: () => void, signal?: AbortSignal): Promise<LockFile> {
  for (let isFirst = true; ; isFirst = false) {
    const lock = tryLock(path);
    if (lock !== null) return lock;
    if (isFirst) onWait();
    await sleep(pollMs, undefined, { signal });
  }
}
