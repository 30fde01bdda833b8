import { constants, enableCompileCache } from 'node:module';
import { join } from 'node:path';

const { ENABLED, ALREADY_ENABLED } = constants.compileCacheStatus;

/** Of the checkout, and where that cannot be written, of the user. */
function foldersOf(env: NodeJS.ProcessEnv): string[] {
  const { XDG_CACHE_HOME, HOME } = env;
  const ofUser = XDG_CACHE_HOME || (HOME ? join(HOME, '.cache') : null);
  const ofCheckout = join(import.meta.dirname, '../node_modules/.cache');
  return [ofCheckout, ...(ofUser === null ? [] : [ofUser])].map((folder) => join(folder, 'docket/compiled'));
}

/**
 * Has Node keep the code that this process, its threads and its children compile, and take what an earlier one kept: half of a
 * start is that. It is kept in the first folder that can be written, or nowhere. Never throws.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv, folders: readonly string[] = foldersOf(env)): void {
  for (const folder of folders) {
    const { status } = enableCompileCache(folder);
    if (status !== ENABLED && status !== ALREADY_ENABLED) continue;
    env['NODE_COMPILE_CACHE'] ??= folder;
    return;
  }
}
