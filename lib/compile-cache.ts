import { constants, enableCompileCache, getCompileCacheDir } from 'node:module';
import { dirname, join } from 'node:path';
import { makePrivateFolder } from './private-folder.ts';

/** Returns the cache folder of the checkout and then that of the user, for a checkout that cannot be written. */
function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const { XDG_CACHE_HOME, HOME } = env;
  const ofUser = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : null);
  const ofCheckout = join(import.meta.dirname, '../node_modules/.cache');
  return [ofCheckout, ...(ofUser === null ? [] : [ofUser])].map((folder) => join(folder, 'docket/compiled'));
}

/** Reports whether only this account can write to the folder. Node runs the code that it finds there. */
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
 * Enables Node's compile cache for this process, its threads and its children. Compiling takes half of a start. The
 * cache is in the first folder that only this account can write; without one it stays disabled. Never throws.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv, folders: readonly string[] = foldersOf(env)): void {
  if (getCompileCacheDir() !== undefined || env['NODE_DISABLE_COMPILE_CACHE']) return;
  for (const folder of folders) {
    if (!isPrivate(folder) || enableCompileCache(folder).status !== constants.compileCacheStatus.ENABLED) continue;
    env['NODE_COMPILE_CACHE'] ??= folder;
    return;
  }
}
