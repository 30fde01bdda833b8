import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const maxBuffer = 1 << 20;
const bytesOfEntry = 1024;

/** Makes a tree readable and writable again for its owner, whatever a command did to the modes in it. */
export async function mendTree(tree: string): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-0700', '-execdir', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-0600', '-execdir', 'chmod', 'u+rw', '{}', '+'];
  // from within each folder: a path from the root may be too long
  await execute('find', [tree, ...folders, '-o', ...files], { maxBuffer, env: { PATH: '/usr/bin:/bin' } });
}

/** What a file system has in use, in bytes; also what was written and not yet given a place, and the places of empty files. */
export async function usedBytes(tree: string): Promise<number> {
  const { blocks, bfree, bsize, files, ffree } = await statfs(tree);
  return (blocks - bfree) * bsize + (files - ffree) * bytesOfEntry;
}

/** Whether the files of a tree that were written or made since a moment take so much of the disk. */
export async function hasWritten(
  tree: string,
  { bytes: limit, sinceMs }: { bytes: number; sinceMs: number },
): Promise<boolean> {
  let bytes = 0;
  const pending = [tree];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      const stat = await lstat(path).catch(() => null);
      if (stat !== null && stat.ctimeMs > sinceMs) bytes += sizeOf(stat);
      if (bytes >= limit) return true;
    }
  }
  return false;
}

/** An empty file takes a place in the file system, too. */
function sizeOf({ blocks }: Stats): number {
  return blocks * 512 + bytesOfEntry;
}

/** A folder that its owner may not read is made readable: nothing is hidden in it. */
async function entriesOf(folder: string) {
  const read = () => readdir(folder, { withFileTypes: true });
  return read()
    .catch(() => chmod(folder, 0o700).then(read))
    .catch(() => []);
}
