import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { messageOf, StartError } from '../start-error.ts';
import { isOwnProgram } from './program-cache.ts';
import { obtainTemporal } from './temporal-program.ts';
import type { DownloadContext } from './download.ts';
import { codeOf } from '../../lib/error-code.ts';

const execute = promisify(execFile);

/** Oldest server release with every feature that the SDK requires. */
const oldestServer = { major: 1, minor: 28 };

export interface TemporalBinary {
  path: string;
  serverVersion: { major: number; minor: number };
}

export interface TemporalSearch extends DownloadContext {
  /** Folder where the SDK stores the servers it downloads. */
  sdkDownloads?: string;
  /**
   * Downloads or builds a binary and returns its path. Throws StartError with the reasons why neither is possible here.
   */
  obtain?(context: DownloadContext): Promise<string>;
}

/**
 * Returns a Temporal CLI whose development server supports the SDK: the one `TEMPORAL_CLI_PATH` names, `temporal` on
 * the PATH, one that the SDK downloaded, or one that is downloaded or built once for this account. Throws StartError
 * that says what to install.
 */
export async function findTemporalBinary(search: TemporalSearch): Promise<TemporalBinary> {
  const { sdkDownloads = tmpdir(), obtain = obtainTemporal, ...context } = search;
  const { env, signal } = context;
  const named = env['TEMPORAL_CLI_PATH'];
  if (named !== undefined && named !== '') return binaryNamed(named);

  const onPath = (env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'temporal'));
  for (const path of [...onPath, ...(await downloadedBinaries(sdkDownloads))]) {
    const binary = await inspect(path).catch(() => null);
    if (binary !== null && isRecent(binary)) return binary;
  }
  let reason: string;
  try {
    const path = await obtain(context);
    const obtained = await inspect(path);
    if (obtained !== null && isRecent(obtained)) return obtained;
    reason = `${path} does not work`;
  } catch (error) {
    signal?.throwIfAborted();
    reason = messageOf(error);
  }
  throw new StartError(`No Temporal server was found, and none could be downloaded or built (${reason}). ${remedies}`);
}

const remedies = [
  'Do one of these and start again:',
  'install the Temporal CLI ("brew install temporal", or https://docs.temporal.io/cli) so that "temporal" is on the PATH or TEMPORAL_CLI_PATH names it;',
  'let this machine reach https://temporal.download or a Go module proxy (HTTPS_PROXY, GOPROXY, and DOCKET_DOWNLOADS not off);',
  'install Go 1.21 or newer (https://go.dev/dl);',
  'or set TEMPORAL_ADDRESS to a Temporal server that runs.',
].join(' ');

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

/** Returns null when the program runs but is not a Temporal CLI. */
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

/**
 * Returns downloaded binaries, newest first. Any account may write to the temporary folder, so only files that this
 * account owns are used.
 */
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
    if (await isOwnProgram(path)) own.push(path);
  }
  return own;
}
