import { execFile } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  statfsSync,
  statSync,
  type Dirent,
} from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const maxBuffer = 1 << 20;
const bytesOfEntry = 1024;
/** A folder whose path is longer is opened, and what lies in it is reached from there. */
const longestPath = 3_000;
const entriesPerTurn = 400;
/** What a file system keeps for itself, or for root. */
const fullBytes = 1 << 20;

/** Makes a tree readable and writable again for its owner, whatever a command did to the modes in it. */
export async function mendTree(tree: string): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-0700', '-execdir', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-0600', '-execdir', 'chmod', 'u+rw', '{}', '+'];
  // from within each folder: a path from the root may be too long
  await execute('find', [tree, ...folders, '-o', ...files], { maxBuffer, env: { PATH: '/usr/bin:/bin' } });
}

/** Lets the owner of a tree enter it, whatever a command did to its mode. */
export function openToOwner(tree: string): void {
  const { mode } = statSync(tree);
  if ((mode & 0o700) !== 0o700) chmodSync(tree, (mode & 0o777) | 0o700);
}

/** What a file system has in use, in bytes; also what was written and not yet given a place, and the places of empty files. */
export function usedBytes(tree: string): number {
  const { blocks, bfree, bsize, files, ffree } = statfsSync(tree);
  return (blocks - bfree) * bsize + (files - ffree) * bytesOfEntry;
}

/** Whether nobody can write to the file system of a tree any more. */
export function isDiskFull(tree: string): boolean {
  const { bavail, bsize, files, ffree } = statfsSync(tree);
  return bavail * bsize < fullBytes || (files > 0 && ffree === 0);
}

interface SizeOptions {
  unchangedSinceMs?: number;
  enoughBytes?: number;
  isOver?: () => boolean;
}

/**
 * What a tree takes of the disk, in bytes; each entry counts as 1 KiB more than its content, as an empty one takes a place in the
 * file system, too. `unchangedSinceMs` leaves out what was changed since. It rests between a few hundred entries, and ends early
 * when `isOver` or at the size that is asked for.
 */
export async function sizeOfTree(
  tree: string,
  { unchangedSinceMs = Infinity, enoughBytes = Infinity, isOver = () => false }: SizeOptions = {},
): Promise<number> {
  let bytes = 0;
  let seen = 0;
  const linked = new Set<string>();
  const opened: number[] = [];
  const pending: (string | { leave: number })[] = [Buffer.from(tree).toString('latin1')];
  try {
    for (let next = pending.pop(); next !== undefined && !isOver(); next = pending.pop()) {
      if (typeof next !== 'string') {
        closeSync(next.leave);
        opened.pop();
        continue;
      }
      let folder = next;
      if (folder.length > longestPath) {
        const fd = openFolder(folder);
        if (fd === null) continue;
        opened.push(fd);
        pending.push({ leave: fd });
        folder = `/proc/self/fd/${fd}`;
      }
      for (const entry of entriesOf(folder)) {
        const path = `${folder}/${entry.name}`;
        if (entry.isDirectory()) pending.push(path);
        const stat = lstatOf(path);
        if (stat !== null && stat.ctimeMs <= unchangedSinceMs && isFirst(linked, stat))
          bytes += stat.blocks * 512 + bytesOfEntry;
        if (bytes >= enoughBytes) return bytes;
        seen += 1;
        if (seen % entriesPerTurn === 0) await nextTurn();
      }
    }
  } finally {
    for (const fd of opened) closeSync(fd);
  }
  return bytes;
}

/** A file with several names takes its place once. */
function isFirst(linked: Set<string>, { nlink, dev, ino }: { nlink: number; dev: number; ino: number }): boolean {
  if (nlink < 2) return true;
  const key = `${dev}:${ino}`;
  if (linked.has(key)) return false;
  linked.add(key);
  return true;
}

/** Names are bytes, and need not be UTF-8: here each byte of a path is one character. */
function bytesOf(path: string): Buffer {
  return Buffer.from(path, 'latin1');
}

function lstatOf(path: string) {
  try {
    return lstatSync(bytesOf(path), { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

function openFolder(path: string): number | null {
  try {
    return openSync(bytesOf(path), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
}

/** A folder that its owner may not read is made readable: nothing is hidden in it. */
function entriesOf(folder: string): Dirent[] {
  const path = bytesOf(folder);
  const read = () => readdirSync(path, { withFileTypes: true, encoding: 'latin1' });
  try {
    return read();
  } catch {
    try {
      chmodSync(path, 0o700);
      return read();
    } catch {
      return [];
    }
  }
}
