import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { userCache } from '../../lib/private-folder.ts';
import { waitForLock } from '../processes/lock-file.ts';
import { messageOf, StartError } from '../start-error.ts';

export interface CachedProgram {
  /** Name of its file, and of its folder in the cache. */
  name: string;
  version: string;
  /** Names it in the log. */
  title: string;
}

export interface CacheContext {
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  signal?: AbortSignal;
}

/** The program if it was kept before. */
export async function findKeptProgram(program: CachedProgram, env: NodeJS.ProcessEnv): Promise<string | null> {
  const path = join(folderOf(program, env), program.name);
  return (await isOwnProgram(path)) ? path : null;
}

/** Puts a program, and what it reads, into an empty folder; throws StartError with a clause that says why it cannot. */
export type MakeProgram = (work: string) => Promise<void>;

/**
 * A program in the cache of this account, which all checkouts share, made in the first way that is possible here. Of several
 * starts at once one makes it and the others wait; one that is interrupted leaves nothing that is taken for a program. Throws
 * StartError with the reasons of all ways.
 */
export async function keepProgram(
  program: CachedProgram,
  { env, log, signal }: CacheContext,
  ways: readonly MakeProgram[],
): Promise<string> {
  const folder = folderOf(program, env);
  const work = `${folder}.new`;
  await mkdir(dirname(folder), { recursive: true });
  const onWait = () => log(`Another start is getting ${program.title}; waiting for it`);
  using _lock = await waitForLock(`${folder}.lock`, onWait, signal);
  const reasons: string[] = [];
  for (const make of ways) {
    const kept = await findKeptProgram(program, env);
    if (kept !== null) return kept;
    try {
      await empty(work);
      await make(work);
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

/** A start that was killed may have left something in it. */
async function empty(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Whether it is a file of this account that no other account may write. */
export async function isOwnProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found !== null && found.isFile() && found.uid === process.getuid?.() && (found.mode & 0o022) === 0;
}

function folderOf({ name, version }: CachedProgram, env: NodeJS.ProcessEnv): string {
  return join(userCache(env), name, version);
}
