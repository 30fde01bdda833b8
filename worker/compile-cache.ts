import { constants, enableCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from '../lib/private-folder.ts';

/** Of the checkout, and where that cannot be written, of the user. */
function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const { XDG_CACHE_HOME, HOME } = env;
  const ofUser = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : null);
  const ofCheckout = join(import.meta.dirname, '../node_modules/.cache');
  return [ofCheckout, ...(ofUser === null ? [] : [ofUser])].map((folder) => join(folder, 'docket/compiled'));
}

/** Node runs what it finds in the folder. Whether this account alone can write there. */
function isPrivate(folder: string): boolean {
  try {
    makePrivateFolder(dirname(folder));
    makePrivateFolder(folder);
    return true;
  } catch {
    return false;
  }
}

/**
 * Has Node keep the code that this process, its threads and its children compile, and take what an earlier one kept: half of a
 * start is that. It is kept in the first folder that only this account can write, or nowhere. Never throws.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv, folders: readonly string[] = foldersOf(env)): void {
  if (getCompileCacheDir() !== undefined || env['NODE_DISABLE_COMPILE_CACHE']) return;
  for (const folder of folders) {
    if (!isPrivate(folder) || enableCompileCache(folder).status !== constants.compileCacheStatus.ENABLED) continue;
    env['NODE_COMPILE_CACHE'] ??= folder;
    return;
  }
}
