import { chmod, lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder that only this account can enter, also where others may write beside it. A folder that is there already is taken
 * when it is this account's and not everybody could fill it; otherwise an Error says what to do.
 */
export async function makePrivateFolder(path: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  try {
    await mkdir(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const found = await lstat(path);
  const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o002) === 0);
  if (!found.isDirectory() || !isOwn)
    throw new Error(`${path} is not a folder of this account alone; remove it, or choose another folder.`);
  await chmod(path, 0o700);
  return path;
}
