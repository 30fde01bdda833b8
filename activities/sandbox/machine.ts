import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, lstat, readdir, readFile, readlink, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findHelpers, type Helpers } from './helpers.ts';
import type { EngineName } from './engine.ts';
import type { Architecture } from './syscalls.ts';

const execute = promisify(execFile);

/** Properties of the machine that the sandbox depends on. */
export interface Machine {
  architecture: Architecture;
  /** The sandbox, the processor and the release of the system, whose programs and libraries commands use. */
  kind: string;
  engine: EngineName;
  /** The program of the engine. */
  program: string;
  prlimit: string;
  taskset: string;
  /** Null when the worker is an ordinary user: commands then run as that user, without access to its files. */
  root: { setpriv: string; uids: { first: number; count: number } } | null;
  /** Layout of `/bin`, `/lib` and similar paths on this machine. */
  system: { path: string; link: string | null }[];
  /** Folders of /etc that toolchains in `/usr` link to for their settings. */
  configuration: string[];
  /** A Node installation outside of `/usr`, and the npm that came with it. */
  node: { file: string; npm: string | null } | null;
  shell: string;
  /** Programs that start a command in the file system of an image; null where none can be used. */
  helpers: Helpers | null;
}

/** Explains in one sentence why there is no sandbox and what to do about it. */
export class NoSandboxError extends Error {
  override name = 'NoSandboxError';
}

const toolchainFolder = /^(?:java|java-\d+-openjdk|maven|gradle)$/;
const systemFolders = ['bin', 'sbin', 'lib', 'lib32', 'lib64', 'libx32'];
/**
 * UID ranges between those that systemd reserves for containers and for itself; the second is for machines with fewer
 * UIDs.
 */
const ownUids = { first: 1_900_000_000, count: 1_000_000 };
const fewUids = { first: 20_000, count: 20_000 };

/** Oldest versions that have all options that the engines use. */
const oldest: Record<EngineName, { major: number; minor: number }> = {
  bubblewrap: { major: 0, minor: 8 },
  podman: { major: 4, minor: 3 },
};

/** Inspects the machine for an engine. Throws NoSandboxError. */
export async function inspectMachine(engine: EngineName): Promise<Machine> {
  if (process.platform !== 'linux') throw new NoSandboxError('it needs Linux');
  if (process.arch !== 'x64' && process.arch !== 'arm64')
    throw new NoSandboxError('it needs an x64 or arm64 processor');
  const program = await find(engine === 'bubblewrap' ? 'bwrap' : engine);
  if (program === null) throw new NoSandboxError(`${engine} is missing; install the package "${engine}"`);
  // podman's own default, runc, cannot run a container in the group of its parent
  if (engine === 'podman' && (await find('crun')) === null)
    throw new NoSandboxError('crun is missing; install the package "crun"');
  const [setpriv, prlimit, taskset] = [await find('setpriv'), await find('prlimit'), await find('taskset')];
  if (setpriv === null || taskset === null || prlimit === null || !prlimit.startsWith('/usr/'))
    throw new NoSandboxError('setpriv, prlimit and taskset are missing; install the package "util-linux"');
  const [version, helpers] = await Promise.all([
    versionOf(program),
    findHelpers({ sh: '/bin/sh', prlimit, nice: '/usr/bin/nice', node: process.execPath }),
  ]);
  const { major, minor } = oldest[engine];
  if (version.major < major || (version.major === major && version.minor < minor))
    throw new NoSandboxError(`${engine} is too old; install ${major}.${minor} or newer`);
  return {
    architecture: process.arch,
    kind: `${engine}/${process.arch}/${await systemRelease()}/node-${process.versions.node.split('.')[0]}`,
    engine,
    program,
    prlimit,
    taskset,
    root: process.getuid?.() === 0 ? { setpriv, uids: await uidsOfMachine() } : null,
    system: await systemOf(),
    configuration: (await readdir('/etc')).filter((name) => toolchainFolder.test(name)).map((name) => `/etc/${name}`),
    node: await nodeOutsideUsr(),
    shell: (await exists('/usr/bin/bash')) ? '/usr/bin/bash' : '/bin/sh',
    helpers,
  };
}

async function versionOf(program: string): Promise<{ major: number; minor: number }> {
  // without the settings of the user, which it may not be able to read
  const env = { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: '/' };
  const { stdout } = await execute(program, ['--version'], { env }).catch((cause: unknown) => {
    throw new NoSandboxError(`${program} does not start`, { cause });
  });
  const [, major = 0, minor = 0] = (/(?<!\d)(\d+)\.(\d+)/.exec(stdout) ?? []).map(Number);
  return { major, minor };
}

/** Returns a UID range that the user namespace of this process contains. */
async function uidsOfMachine(): Promise<{ first: number; count: number }> {
  const map = await readFile('/proc/self/uid_map', 'utf8');
  const ranges = map.split('\n').map((line) => line.trim().split(/\s+/).map(Number));
  const has = ({ first, count }: { first: number; count: number }) =>
    ranges.some(([inside = 0, , length = 0]) => inside <= first && first + count <= inside + length);
  const found = [ownUids, fewUids].find(has);
  if (found === undefined)
    throw new NoSandboxError('there are no user ids to run it as; run the worker as an ordinary user');
  return found;
}

/** Returns the name and version of the distribution. */
async function systemRelease(): Promise<string> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  const valueOf = (name: string) => new RegExp(`^${name}="?([^"\n]*)"?$`, 'm').exec(text)?.[1] ?? 'unknown';
  return `${valueOf('ID')}-${valueOf('VERSION_ID')}`;
}

async function systemOf(): Promise<Machine['system']> {
  const system: Machine['system'] = [];
  for (const name of systemFolders) {
    const path = `/${name}`;
    const stat = await lstat(path).catch(() => null);
    if (stat === null) continue;
    system.push({ path, link: stat.isSymbolicLink() ? await readlink(path) : null });
  }
  return system;
}

async function nodeOutsideUsr(): Promise<Machine['node']> {
  const file = await realpath(process.execPath);
  if (file.startsWith('/usr/')) return null;
  const npm = join(dirname(file), '../lib/node_modules/npm');
  return { file, npm: (await exists(join(npm, 'bin/npm-cli.js'))) ? npm : null };
}

/** Finds a program in the system directories. A customized PATH is ignored. */
async function find(program: string): Promise<string | null> {
  for (const folder of ['/usr/bin', '/usr/sbin', '/usr/local/bin', '/bin', '/sbin'])
    if (await exists(join(folder, program))) return join(folder, program);
  return null;
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
