import { execFile } from 'node:child_process';
import type { Stats } from 'node:fs';
import { chmod, lstat, readdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const maxBuffer = 1 << 20;

/** Makes a tree readable and writable again for its owner, whatever a command did to the modes in it. */
export async function mendTree(tree: string): Promise<void> {
  const folders = ['-type', 'd', '!', '-perm', '-0700', '-exec', 'chmod', 'u+rwx', '{}', ';'];
  const files = ['-type', 'f', '!', '-perm', '-0600', '-exec', 'chmod', 'u+rw', '{}', '+'];
  await execute('find', [tree, ...folders, '-o', ...files], { maxBuffer });
}

/** What a file system has in use, in bytes; also what was written and not yet given a place. */
export async function usedBytes(tree: string): Promise<number> {
  const { blocks, bfree, bsize } = await statfs(tree);
  return (blocks - bfree) * bsize;
}

/** Size on disk of the files of a tree that were written or made since a moment, in bytes. */
export async function writtenBytes(tree: string, sinceMs: number): Promise<number> {
  let bytes = 0;
  const pending = [tree];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await entriesOf(folder)) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      const stat = await lstat(path).catch(() => null);
      if (stat !== null && stat.ctimeMs > sinceMs) bytes += sizeOf(stat);
    }
  }
  return bytes;
}

/** An empty file takes a place in the file system, too. */
function sizeOf({ blocks }: Stats): number {
  return blocks * 512 + 1024;
}

/** A folder that its owner may not read is made readable: nothing is hidden in it. */
async function entriesOf(folder: string) {
  const read = () => readdir(folder, { withFileTypes: true });
  return read()
    .catch(() => chmod(folder, 0o700).then(read))
    .catch(() => []);
}
