import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { codeOf } from './error-code.ts';

/** A lock shared by all processes on the machine. The kernel releases it when its owner dies. */
export interface FileLock extends Disposable {
  /** Deletes the lock file and releases the lock. */
  remove(): void;
}

export interface LockWait {
  /** Ends the wait with its reason. */
  signal?: AbortSignal;
  /** Called once if the lock is not free at first. */
  onWait?(): void;
}

const minWaitMs = 5;
const maxWaitMs = 100;

/** Acquires the lock on a file, waiting until it is free. */
export async function acquireLock(path: string, { signal, onWait }: LockWait): Promise<FileLock> {
  for (let waitMs = minWaitMs; ; waitMs = Math.min(waitMs * 2, maxWaitMs)) {
    signal?.throwIfAborted();
    const lock = tryLock(path);
    if (lock !== null) return lock;
    if (waitMs === minWaitMs) onWait?.();
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** Acquires the lock if it is free; returns null if this or another process holds it. */
export function tryLock(path: string): FileLock | null {
  createOnce(path);
  const before = identityOf(path);
  const database = lockDatabase(path);
  if (database === null) return null;
  if (before === null || before !== identityOf(path)) {
    // The previous holder removed the file: this lock would exclude no other process
    database.close();
    return null;
  }
  return {
    remove() {
      if (!database.isOpen) return;
      rmSync(path, { force: true });
      database.close();
    },
    [Symbol.dispose]: () => database[Symbol.dispose](),
  };
}

/**
 * Opens an exclusive transaction that writes nothing. It holds SQLite's lock on the file and creates no journal file.
 */
function lockDatabase(path: string): DatabaseSync | null {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return database;
  } catch (error) {
    database.close();
    if (isBusy(error)) return null;
    throw error;
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === 5;
}

/**
 * Creates the file but never opens an existing one: closing it would release the locks that this process holds on it.
 */
function createOnce(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino}-${found.birthtimeNs}`;
}
