import { randomUUID } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mendTree } from '../activities/sandbox/tree.ts';
import { removeTree } from '../activities/workspaces/remove-tree.ts';
import { tryLock } from '../lib/file-lock.ts';

/** A folder that only this process uses, until disposed of. */
export interface OwnFolder extends AsyncDisposable {
  path: string;
  /** Resolves when the folders of processes that were killed are removed. */
  swept: Promise<void>;
}

const prefix = 'docket-sandbox-';
const lockEnding = '.lock';

/**
 * Creates a folder with a short path for this process, and removes those of processes that were killed, in the background. Returns before
 * anything else can run, because the event loop of a process that loads its code has no time for callbacks.
 */
export function openOwnFolder(parent = tmpdir()): OwnFolder {
  for (;;) {
    const path = join(parent, `${prefix}${randomUUID().slice(0, 8)}`);
    const lock = tryLock(`${path}${lockEnding}`);
    // another process that starts took it for an abandoned one
    if (lock === null) continue;
    mkdirSync(path, { mode: 0o700 });
    // what cannot be removed is left for the next start
    const swept = removeAbandoned(parent).catch(() => undefined);
    return {
      path,
      swept,
      async [Symbol.asyncDispose]() {
        await swept;
        await remove(path);
        lock.remove();
      },
    };
  }
}

/** The kernel has released the lock of a killed process. What cannot be removed is left for the next start. */
async function removeAbandoned(parent: string): Promise<void> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(prefix) && name.endsWith(lockEnding));
  for (const name of names) {
    const path = join(parent, name);
    if (!(await isOwn(path))) continue;
    using lock = tryLock(path);
    if (lock === null) continue;
    await remove(path.slice(0, -lockEnding.length)).then(lock.remove, () => undefined);
  }
}

async function remove(folder: string): Promise<void> {
  if (!(await isOwn(folder))) return;
  // a command may have taken the access to its own folders away
  await mendTree(folder);
  await removeTree(folder);
}

/** Other users may put anything into a folder for temporary files. */
async function isOwn(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => null);
  return found !== null && !found.isSymbolicLink() && found.uid === process.getuid?.();
}
