import { createHash } from 'node:crypto';
import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { endLeftoverServer } from './postgres-leftover.ts';
import type { Account } from '../processes/spawn-process.ts';
import { StartError } from '../start-error.ts';
import { codeOf } from '../../lib/error-code.ts';

const execute = promisify(execFile);
const preferredAccounts = ['postgres', 'nobody', 'daemon'];
const rootDataFolder = '/var/lib/docket';

export interface DataLocation {
  /** Path of the data directory. */
  data: string;
  /** Account that runs the server; null for the account of this process. */
  account: Account | null;
}

/**
 * Returns the location of a PostgreSQL server's data and the account that runs it. For an ordinary user, that is
 * `directory/data` and the user's own account. PostgreSQL refuses to run as root, so root uses another account. If that
 * account cannot enter `directory`, the data is stored below `/var/lib/docket`, and `directory/elsewhere` records the
 * location.
 */
export async function findDataLocation(directory: string): Promise<DataLocation> {
  await mkdir(directory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
  const inside = join(await realpath(directory), 'data');
  if (process.getuid?.() !== 0) return { data: inside, account: null };

  const elsewhere = await readText(join(directory, 'elsewhere'));
  const data = elsewhere ?? inside;
  const owner = await ownerOf(data);
  if (owner !== null && owner.uid !== 0) {
    if (await canEnter(dirname(data), owner)) return { data, account: owner };
    throw new StartError(
      `PostgreSQL's data in ${data} belongs to the account with uid ${owner.uid}, which may not enter a folder above it; allow it with "chmod o+x", or move the data.`,
    );
  }
  const account = await findAccount();
  if (elsewhere === null && (await canEnter(dirname(inside), account))) return { data: inside, account };
  return { data: elsewhere ?? (await locationOutside(directory)), account };
}

async function locationOutside(directory: string): Promise<string> {
  const name = createHash('sha256')
    .update(await realpath(directory))
    .digest('hex')
    .slice(0, 16);
  const outside = join(rootDataFolder, name);
  for (const folder of [rootDataFolder, outside]) {
    if (folder === outside) await keepAside(outside);
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o755);
  }
  const data = join(outside, 'data');
  await writeFile(join(directory, 'elsewhere'), data, { mode: 0o600 });
  return data;
}

/** Moves aside the data of a deleted home that had the same path. One previous generation is retained. */
async function keepAside(outside: string): Promise<void> {
  const previous = `${outside}.previous`;
  if ((await ownerOf(outside)) === null) return;
  await endLeftoverServer(join(outside, 'data'));
  await rm(previous, { recursive: true, force: true });
  await rename(outside, previous);
}

/**
 * Returns the first account other than root that this process can run programs as. A container may not map every
 * account.
 */
async function findAccount(): Promise<Account> {
  const lines = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  for (const name of preferredAccounts) {
    const fields = lines.find((line) => line[0] === name);
    const account = { uid: Number(fields?.[2]), gid: Number(fields?.[3]) };
    // on macOS, nobody has the user id -2, which chown does not accept
    if (!(account.uid > 0 && account.gid > 0)) continue;
    try {
      await execute('/bin/sh', ['-c', ':'], { cwd: '/', ...account });
      return account;
    } catch {
      continue; // this account cannot be used here; try the next one
    }
  }
  throw new StartError(
    `PostgreSQL refuses to run as root and none of the accounts ${preferredAccounts.join(', ')} can be used here; start as an ordinary user, or set DATABASE_URL to a PostgreSQL of your own.`,
  );
}

/** Reports whether the permissions of a folder and all its parents let the account enter. */
export async function canEnter(folder: string, { uid, gid }: Account): Promise<boolean> {
  const { mode, uid: owner, gid: group } = await stat(folder);
  const bit = owner === uid ? 0o100 : group === gid ? 0o010 : 0o001;
  if ((mode & bit) === 0) return false;
  const parent = dirname(folder);
  return parent === folder || canEnter(parent, { uid, gid });
}

/** Changes the owner of a file or folder to the account. Does nothing when the account is null. */
export async function giveTo(path: string, account: Account | null): Promise<void> {
  if (account !== null) await chown(path, account.uid, account.gid);
}

async function ownerOf(path: string): Promise<Account | null> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

async function readText(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}
