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
/** Longest path used directly; a folder with a longer one is opened, and its entries are reached from there. */
const maxPathLength = 3_000;
/** A command that starts meanwhile waits for as many at each of its dozen messages. */
const entriesPerTurn = 40;
/** Space that a file system reserves for itself or for root. */
const fullBytes = 1 << 20;

/** Restores the owner's read and write permissions in a tree, whatever modes a command has set. */
export async function mendTree(tree: string): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-0700', '-execdir', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-0600', '-execdir', 'chmod', 'u+rw', '{}', '+'];
  // run within each folder, because a path from the root may be too long
  await execute('find', [tree, ...folders, '-o', ...files], { maxBuffer, env: { PATH: '/usr/bin:/bin' } });
}

/** Restores the owner's access to a tree's root folder, whatever mode a command has set. */
export function openToOwner(tree: string): void {
  const { mode } = statSync(tree);
  if ((mode & 0o700) !== 0o700) chmodSync(tree, (mode & 0o777) | 0o700);
}

/**
 * Returns the bytes in use on a file system, including data written but not yet allocated, and the inodes of empty
 * files.
 */
export function usedBytes(tree: string): number {
  const { blocks, bfree, bsize, files, ffree } = statfsSync(tree);
  return (blocks - bfree) * bsize + (files - ffree) * bytesOfEntry;
}

/** Reports whether the file system of a tree is full. */
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
 * Returns the disk usage of a tree, in bytes. Each entry counts as 1 KiB more than its content, because an empty one
 * uses space in the file system, too. `unchangedSinceMs` leaves out later changes. It yields every few dozen entries,
 * and stops early when `isOver` returns true or `enoughBytes` is reached.
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
      if (folder.length > maxPathLength) {
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

/** Counts a file with several hard links once. */
function isFirst(linked: Set<string>, { nlink, dev, ino }: { nlink: number; dev: number; ino: number }): boolean {
  if (nlink < 2) return true;
  const key = `${dev}:${ino}`;
  if (linked.has(key)) return false;
  linked.add(key);
  return true;
}

/** Converts a path to bytes. Names need not be valid UTF-8, so each byte is one character here. */
export function bytesOf(path: string): Buffer {
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

/** Lists a folder. One that its owner cannot read is made readable, so that nothing can be hidden in it. */
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
