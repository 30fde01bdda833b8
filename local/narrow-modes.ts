import { chmod, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from './start-error.ts';

/** What a home holds, beside what lies in folders that only their owner enters. */
const files = ['encryption-key', 'key-pepper', 'local.json', 'lock', 'processes.json'];
const folders = ['logs', 'repositories', 'temporal', 'work'];
const foldersOfFiles = ['logs', 'temporal', 'postgres'];

/**
 * Takes from others what an earlier release let them read in a home: its folders are for their owner (700), its files too (600).
 * Where root starts the stack, the account of its PostgreSQL passes the home and `postgres`. What a person keeps there is left alone.
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

/** Changes what is there and is no link. */
async function setMode(path: string, kind: 'file' | 'folder', mode: number): Promise<void> {
  const found = await lstat(path).catch(() => null);
  const isWanted = kind === 'file' ? found?.isFile() : found?.isDirectory();
  if (found !== null && isWanted && (found.mode & 0o777) !== mode) await chmod(path, mode);
}
