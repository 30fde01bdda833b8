import { randomBytes, randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkDisk } from './disk-space.ts';
import { narrowModes } from './narrow-modes.ts';
import type { StackSettings } from './settings.ts';
import { messageOf, StartError } from './start-error.ts';
import { codeOf } from '../lib/error-code.ts';
import { tryLock, type FileLock } from '../lib/file-lock.ts';

const lockName = 'lock';
const keyPepperName = 'key-pepper';
const encryptionKeyName = 'encryption-key';

/** Folder that holds all data of a local stack, locked while this process uses it. */
export interface Home extends Disposable {
  readonly directory: string;
  /** Folders in the home. */
  readonly repositories: string;
  readonly work: string;
  readonly logs: string;
}

/**
 * Creates the home if it does not exist and locks it. Throws StartError when it is not writable or another stack runs
 * on it.
 */
export async function openHome(directory: string): Promise<Home> {
  const lock = await lockHome(directory);
  if (lock === null) {
    throw new StartError(`Docket already runs on ${directory}; stop it first, or set DOCKET_HOME to another folder.`);
  }
  const folders = {
    repositories: join(directory, 'repositories'),
    work: join(directory, 'work'),
    logs: join(directory, 'logs'),
  };
  await createFolders(folders);
  await narrowModes(directory);
  return { directory, ...folders, [Symbol.dispose]: () => lock[Symbol.dispose]() };
}

async function lockHome(directory: string): Promise<FileLock | null> {
  const probe = join(directory, `write-check-${process.pid}`);
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await checkOwner(directory);
    checkDisk(directory);
    await writeFile(probe, '');
    await rm(probe);
    return tryLock(join(directory, lockName));
  } catch (cause) {
    if (cause instanceof StartError) throw cause;
    throw new StartError(
      `The folder ${directory} cannot be written (${codeOf(cause) ?? messageOf(cause)}); make it writable, or set DOCKET_HOME to another folder.`,
      { cause },
    );
  }
}

/** Checks who can write to a home: another account could plant its own key or database there. */
async function checkOwner(directory: string): Promise<void> {
  const account = process.getuid?.() ?? 0;
  const { uid, mode } = await stat(directory);
  if ((account !== 0 && uid !== account) || (mode & 0o002) !== 0)
    throw new StartError(`Other accounts may write to ${directory}; set DOCKET_HOME to a folder of your own.`);
}

/** Removes everything in a home except its lock. */
export async function emptyHome({ directory, ...folders }: Home): Promise<void> {
  const entries = (await readdir(directory)).filter((name) => name !== lockName);
  for (const name of entries) await rm(join(directory, name), { recursive: true, force: true });
  await createFolders(folders);
}

async function createFolders({
  repositories,
  work,
  logs,
}: Pick<Home, 'repositories' | 'work' | 'logs'>): Promise<void> {
  for (const folder of [repositories, work, logs]) await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Returns one line for each missing secret file of a home that no setting replaces, with the consequence. */
export async function lostSecrets(
  directory: string,
  { keyPepper, encryptionKeys }: Pick<StackSettings, 'keyPepper' | 'encryptionKeys'>,
): Promise<string[]> {
  const secrets = [
    { name: keyPepperName, given: keyPepper, consequence: 'earlier keys and sessions are no longer valid' },
    {
      name: encryptionKeyName,
      given: encryptionKeys,
      consequence: 'stored tokens and ssh keys cannot be decrypted, and running jobs cannot continue',
    },
  ];
  const lines = secrets.map(async ({ name, given, consequence }) =>
    given === null && (await readOrNull(join(directory, name))) === null
      ? `${join(directory, name)} is missing, so ${consequence}. To get them back, stop Docket and restore the file from a backup.`
      : [],
  );
  return (await Promise.all(lines)).flat();
}

/** Returns the secret for this home's key digests, creating it on first use. */
export function readKeyPepper(directory: string): Promise<string> {
  return readOrMake(join(directory, keyPepperName), () => randomBytes(32).toString('hex'));
}

/**
 * Returns the key that seals this home's stored secrets, in the format of `DOCKET_ENCRYPTION_KEYS`, creating it on
 * first use.
 */
export function readEncryptionKey(directory: string): Promise<string> {
  return readOrMake(join(directory, encryptionKeyName), () => `local:${randomBytes(32).toString('base64')}`);
}

/** Returns the home's encryption key, or null when there is none. */
export function findEncryptionKey(directory: string): Promise<string | null> {
  return readOrNull(join(directory, encryptionKeyName));
}

/**
 * Reads a file, creating it if it is missing. Among concurrent starts the first one to create it wins, because data
 * stored with its content must remain readable.
 */
async function readOrMake(file: string, make: () => string): Promise<string> {
  const kept = await readOrNull(file);
  if (kept !== null) return kept;
  const draft = `${file}.${randomUUID()}`;
  await writeFile(draft, make(), { mode: 0o600, flush: true });
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return (await readFile(file, 'utf8')).trim();
}

async function readOrNull(file: string): Promise<string | null> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
