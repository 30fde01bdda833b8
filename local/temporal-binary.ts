import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, messageOf, StartError } from './start-error.ts';
import { buildTemporal } from './temporal-build.ts';

const execute = promisify(execFile);

/** The oldest server release that has everything the SDK asks of one. */
const oldestServer = { major: 1, minor: 28 };

export interface TemporalBinary {
  path: string;
  serverVersion: { major: number; minor: number };
}

export interface TemporalSearch {
  env: NodeJS.ProcessEnv;
  log(line: string): void;
  /** Ends a build that is under way. */
  signal?: AbortSignal;
  /** Where the SDK puts the servers it downloads. */
  downloads?: string;
  /** Builds one and returns its path; rejects when that is not possible here. */
  build?(search: Pick<TemporalSearch, 'env' | 'log' | 'signal'>): Promise<string>;
}

/**
 * A Temporal command line whose development server serves the SDK: the one `TEMPORAL_CLI_PATH` names, `temporal` on the PATH,
 * one the SDK downloaded, or one built by the Go toolchain (minutes, once per user). Throws StartError that names the remedies.
 */
export async function findTemporalBinary(search: TemporalSearch): Promise<TemporalBinary> {
  const { env, log, signal, downloads = tmpdir(), build = buildTemporal } = search;
  const named = env['TEMPORAL_CLI_PATH'];
  if (named !== undefined && named !== '') return binaryNamed(named);

  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'temporal'));
  for (const path of [...onPath, ...(await downloadedBinaries(downloads))]) {
    const binary = await inspect(path).catch(() => null);
    if (binary !== null && isRecent(binary)) return binary;
  }
  let reason: string;
  try {
    const built = await inspect(await build({ env, log, signal }));
    if (built !== null && isRecent(built)) return built;
    reason = 'the one that was built does not work';
  } catch (error) {
    signal?.throwIfAborted();
    reason = messageOf(error);
  }
  throw new StartError(
    `No Temporal server was found and none could be built (${reason}): install the Temporal CLI and put it on the PATH or name it in TEMPORAL_CLI_PATH, or install Go 1.21 or newer so that one can be built, or set TEMPORAL_ADDRESS to a server that runs.`,
  );
}

async function binaryNamed(path: string): Promise<TemporalBinary> {
  const binary = await inspect(path).catch((cause: unknown) => {
    throw new StartError(`TEMPORAL_CLI_PATH names ${path}, which cannot be run: ${messageOf(cause)}`, { cause });
  });
  if (binary !== null && isRecent(binary)) return binary;
  const found =
    binary === null
      ? 'no Temporal CLI'
      : `a server of release ${binary.serverVersion.major}.${binary.serverVersion.minor}`;
  throw new StartError(
    `TEMPORAL_CLI_PATH names ${path}, which is ${found}; it must be a Temporal CLI with a server of release ${oldestServer.major}.${oldestServer.minor} or newer.`,
  );
}

function isRecent({ serverVersion: { major, minor } }: TemporalBinary): boolean {
  return major > oldestServer.major || (major === oldestServer.major && minor >= oldestServer.minor);
}

/** Null when the program runs but is something else. */
async function inspect(path: string): Promise<TemporalBinary | null> {
  const { stdout } = await execute(path, ['--version'], {
    timeout: 60_000,
    env: { PATH: '/usr/bin:/bin', HOME: tmpdir() },
  });
  const [, major, minor] = /^temporal version .*\(Server (\d+)\.(\d+)\./m.exec(stdout) ?? [];
  return major === undefined || minor === undefined
    ? null
    : { path, serverVersion: { major: Number(major), minor: Number(minor) } };
}

/** The newest first. Anybody may write to the folder of temporary files: only what is this user's own is taken from it. */
async function downloadedBinaries(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'EACCES') return [];
    throw error;
  }
  const own: string[] = [];
  for (const name of names
    .filter((entry) => /^temporal-sdk-typescript-\d/.test(entry))
    .sort()
    .reverse()) {
    const path = join(folder, name);
    const { uid, mode } = await stat(path).catch(() => ({ uid: -1, mode: 0 }));
    if (uid === process.getuid?.() && (mode & 0o022) === 0) own.push(path);
  }
  return own;
}
