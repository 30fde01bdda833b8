import { closeSync, openSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { GitError } from '../git/git-error.ts';

/** A lock between all processes of a machine. The kernel gives it back when its owner dies. */
export interface FileLock {
  /** Gives the lock back; `remove` takes the file away with it. */
  release(options?: { remove?: boolean }): Promise<void>;
}

const shortestWaitMs = 5;
const longestWaitMs = 100;

/** Takes the lock of a file, waiting for whoever holds it. Errors: GitError `aborted`. */
export async function acquireLock(path: string, signal: AbortSignal): Promise<FileLock> {
  for (let waitMs = shortestWaitMs; ; waitMs = Math.min(waitMs * 2, longestWaitMs)) {
    if (signal.aborted) throw new GitError('aborted');
    const lock = tryLock(path);
    if (lock !== null) return lock;
    await delay(waitMs, undefined, { signal }).catch(() => {});
  }
}

/** Takes the lock if it is free; null when someone holds it. */
export function tryLock(path: string): FileLock | null {
  createOnce(path);
  const before = identityOf(path);
  const database = lockDatabase(path);
  if (database === null) return null;
  if (before === null || before !== identityOf(path)) {
    // The holder before removed the file: this lock would exclude nobody
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

/** An exclusive transaction that writes nothing: SQLite's lock on the file, without a file beside it. */
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

/** Never opens a file that exists: closing it again would give back the locks that this process holds on it. */
function createOnce(path: string): void {
  try {
    closeSync(openSync(path, 'wx', 0o600));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
}

function identityOf(path: string): string | null {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.ino}-${found.birthtimeNs}`;
}
