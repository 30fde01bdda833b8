import { closeSync, openSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { GitError } from '../git/git-error.ts';
import { codeOf } from '../../lib/error-code.ts';

/** A lock shared by all processes on the machine. The kernel releases it when its owner dies. */
export interface FileLock {
  /** Releases the lock; `remove` also deletes the lock file. */
  release(options?: { remove?: boolean }): Promise<void>;
}

const shortestWaitMs = 5;
const longestWaitMs = 100;

/** Acquires the lock on a file, waiting until it is free. Errors: GitError `aborted`. */
export async function acquireLock(path: string, signal: AbortSignal): Promise<FileLock> {
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    if (signal.aborted) throw new GitError('aborted');
    const lock = tryLock(path);
    if (lock !== null) return lock;
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** Acquires the lock if it is free; returns null if it is held. */
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
    async release({ remove = false } = {}) {
      if (!database.isOpen) return;
      if (remove) await rm(path, { force: true });
      database.close();
    },
  };
}

/**
 * Opens an exclusive transaction that writes nothing. It holds SQLite's lock on the file and creates no journal file.
 */
function lockDatabase(path: string): DatabaseSync | null {
  const database = new DatabaseSync(path, { timeout: 0 });
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
