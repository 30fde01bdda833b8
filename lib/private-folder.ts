import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf } from './error-code.ts';

/**
 * Creates a folder that only this account can enter, even where others may write beside it. An existing folder is
 * accepted when it belongs to this account and is not writable by everyone; otherwise an Error states what to do.
 */
export function makePrivateFolder(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  }
  const found = lstatSync(path);
  const isOwn = process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o002) === 0);
  if (!found.isDirectory() || !isOwn)
    throw new Error(`${path} is not private to this account. Remove it, or choose another folder.`);
  chmodSync(path, 0o700);
  return path;
}

/** Returns the path of this account's folder in the temporary folder. The account may have an id only, and no name. */
export function temporaryFolderOf(name: string): string {
  return join(tmpdir(), `${name}-${process.getuid?.()}`);
}

/**
 * Returns this account's folder for programs and code that are built once. Anyone who could write there would run code
 * as this account.
 */
export function userCache(env: NodeJS.ProcessEnv): string {
  const folder = join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'docket');
  try {
    return makePrivateFolder(folder);
  } catch (cause) {
    const code = codeOf(cause);
    if (code === null) throw cause;
    throw new Error(`${folder} cannot be created (${code}); set XDG_CACHE_HOME to a folder that can be written`, {
      cause,
    });
  }
}
