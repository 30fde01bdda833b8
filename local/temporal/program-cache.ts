import { chmod, mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { acquireLock } from '../../lib/file-lock.ts';
import { userCache } from '../../lib/private-folder.ts';
import { messageOf, StartError } from '../start-error.ts';

export interface CachedProgram {
  /** Name of its file and of its folder in the cache. */
  name: string;
  version: string;
  /** Name in the log. */
  title: string;
}

export interface CacheContext {
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  signal?: AbortSignal;
}

/** Returns the path of the program if it is cached, otherwise null. */
export async function findKeptProgram(program: CachedProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  const path = join(folderOf(program, env), program.name);
  return (await isOwnProgram(path)) ? path : null;
}

/**
 * Puts a program and the files it reads into an empty folder. Throws StartError with a clause that says why it cannot.
 */
export type MakeProgram = (work: string) => Promise<void>;

/**
 * Returns the path of a program in this account's cache, which all checkouts share, making it in the first way that
 * works here. Of several concurrent starts, one makes it and the others wait. An interrupted start leaves nothing that
 * could be mistaken for a program. Throws StartError with the reasons why each way failed.
 */
export async function keepProgram(
  program: CachedProgram,
  { env, log, signal }: CacheContext,
  ways: readonly MakeProgram[],
): Promise<string> {
  const folder = folderOf(program, env);
  const work = `${folder}.new`;
  await mkdir(dirname(folder), { recursive: true });
  const onWait = () => log(`Another process is preparing ${program.title}; waiting for it`);
  using _lock = await acquireLock(`${folder}.lock`, { signal, onWait });
  const reasons: string[] = [];
  for (const make of ways) {
    const kept = await findKeptProgram(program, env);
    if (kept !== null) return kept;
    try {
      await empty(work);
      await make(work);
      await chmod(join(work, program.name), 0o755); // a umask may let a group write
      await rm(folder, { recursive: true, force: true });
      await rename(work, folder);
    } catch (error) {
      signal?.throwIfAborted();
      reasons.push(messageOf(error));
      log(`  ${messageOf(error)}`);
    } finally {
      await rm(work, { recursive: true, force: true });
    }
  }
  const made = await findKeptProgram(program, env);
  if (made !== null) return made;
  throw new StartError(reasons.join('; '));
}

/** Empties a folder, in which a killed start may have left files. */
async function empty(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Reports whether the path is a file of this account that no other account can write. */
export async function isOwnProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

function folderOf({ name, version }: CachedProgram, env: NodeJS.ProcessEnv): string {
  return join(userCache(env), name, version);
}
