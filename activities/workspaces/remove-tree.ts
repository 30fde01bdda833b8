import { randomUUID } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes of a path from which on its folder is brought nearer: the system takes 4,096, and a name may have 255. */
const longPath = 2_000;
const separator = Buffer.from('/');

/** Removes a folder of ours and all in it, also folders within folders beyond the length that a path may have. */
export async function removeTree(root: string): Promise<void> {
  try {
    await rm(root, { recursive: true, force: true });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENAMETOOLONG')) throw error;
    await flatten(root);
    await rm(root, { recursive: true, force: true });
  }
}

/** Moves what lies deep right below the root, so that a path leads to everything. */
async function flatten(root: string): Promise<void> {
  const pending = [Buffer.from(root)];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    for (const entry of await readdir(folder, { withFileTypes: true, encoding: 'buffer' })) {
      if (!entry.isDirectory()) continue;
      const path = Buffer.concat([folder, separator, entry.name]);
      const removed = path.length > longPath ? Buffer.from(join(root, randomUUID())) : path;
      if (removed !== path) await rename(path, removed);
      pending.push(removed);
    }
  }
}
