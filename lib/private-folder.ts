import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Makes a folder that only this account can enter, also where others may write beside it. A folder that is there already is taken
 * when it is this account's and not everybody could fill it; otherwise an Error says what to do.
 */
export function makePrivateFolder(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  const found = lstatSync(path);
  const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o002) === 0);
  if (!found.isDirectory() || !isOwn)
    throw new Error(`${path} is not private to this account. Remove it, or choose another folder.`);
  chmodSync(path, 0o700);
  return path;
}

/** The folder of this account for programs and code that are made once. Whoever could write there would run as this account. */
export function userCache(env: NodeJS.ProcessEnv): string {
  return makePrivateFolder(join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'docket'));
}
