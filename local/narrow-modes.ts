import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../lib/error-code.ts';

/** Files and folders of a home, apart from those inside folders that only their owner can enter. */
const files = ['encryption-key', 'key-pepper', 'local.json', 'lock', 'processes.json'];
const folders = ['logs', 'repositories', 'temporal', 'work'];
const foldersOfFiles = ['logs', 'temporal', 'postgres'];

/**
 * Removes access that an earlier release granted to other accounts in a home: its folders get mode 700 and its files
 * 600. When root starts the stack, PostgreSQL's account must still pass through the home and `postgres`. The user's own
 * files are left alone.
 */
export async function narrowModes(home: string): Promise<void> {
  const passable = process.getuid?.() === 0 ? 0o711 : 0o700;
  const below = await Promise.all(foldersOfFiles.map((name) => filesBelow(join(home, name))));
  await setMode(home, 'folder', passable);
  await setMode(join(home, 'postgres'), 'folder', passable);
  for (const name of folders) await setMode(join(home, name), 'folder', 0o700);
  for (const path of [...files.map((name) => join(home, name)), ...below.flat()]) await setMode(path, 'file', 0o600);
}

async function filesBelow(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Changes the mode of an existing path that is not a symbolic link. */
async function setMode(path: string, kind: 'file' | 'folder', mode: number): Promise<void> {
  const found = await lstat(path).catch(() => null);
  const isWanted = kind === 'file' ? found?.isFile() : found?.isDirectory();
  if (found !== null && isWanted && (found.mode & 0o777) !== mode) await chmod(path, mode);
}
