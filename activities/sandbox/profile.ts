import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { homePoint, treePoint, type CommandEnvironment } from './command-environment.ts';
import { helperCommand, helperFolder } from './helpers.ts';
import type { Machine } from './machine.ts';
import { offlineShell, onlineShell, proxyEnvironment } from './network.ts';
import { shellWord } from '../../lib/shell-word.ts';
import { SandboxError } from './sandbox-error.ts';
import type { SandboxRoot } from './sandbox-root.ts';

/** Certificates that programs in the sandbox trust, if the worker has additional ones; otherwise empty. */
const authoritiesFile = '/etc/docket/authorities.pem';
/** Environment variables in which programs look for trusted certificates. */
const authoritiesVariables = [
  'NODE_EXTRA_CA_CERTS',
  'SSL_CERT_FILE',
  'CURL_CA_BUNDLE',
  'GIT_SSL_CAINFO',
  'REQUESTS_CA_BUNDLE',
  'PIP_CERT',
  'CARGO_HTTP_CAINFO',
];

/** Descriptors from which bubblewrap reads its input. */
const statusFd = 3;
export const filterFd = 4;
/** Files created in the sandbox, from the descriptor after `filterFd` on. */
const madeFiles: Readonly<Record<string, string>> = {
  '/etc/passwd': `root:x:0:0:root:/:/bin/sh\njob:x:1000:1000:job:${homePoint}:/bin/sh\n`,
  '/etc/group': 'root:x:0:\njob:x:1000:\n',
  '/etc/hosts': '127.0.0.1 localhost\n::1 localhost\n',
  [authoritiesFile]: '',
};

/** Files of accounts, which an installer adds its own to. */
const accountFiles = ['/etc/passwd', '/etc/group'];

/** Returns the files to create, with their contents. */
export function madeFilesOf(authorities: string | null): [path: string, content: string][] {
  return Object.entries({ ...madeFiles, [authoritiesFile]: authorities ?? '' });
}

/** Returns the files that the sandbox mounts over those of an image. */
export function mountedFiles(): string[] {
  return [...Object.keys(madeFiles), variablesFile];
}

/** Returns the redirections that give an installer its filter, and close what its sandbox does not read. */
export function installerRedirects(filter: string): string {
  const closed = accountFiles.map((path) => `${descriptorOf(path)}<&-`);
  return [`${filterFd}<`, shellWord(filter), ...closed].join(' ');
}

/** Channel on which a command waits for an answer before it starts, and over which it hands out its listening socket. */
export const channelFd = filterFd + 1 + Object.keys(madeFiles).length;
/** Descriptor to which the outer of two sandboxes reports its first process, if the worker is root. */
export const stageFd = channelFd + 1;
/** Descriptor from which bubblewrap reads the command's variables, above those that a shell names by one digit. */
export const variablesFd = stageFd + 1;
const variablesFile = '/etc/docket/variables';

const readable = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl', '/etc/pki'];
const directoryOfNode = '/opt/node/bin/node';
const usualPath = '/usr/local/bin:/usr/bin:/bin';
const openFiles = 1_024;
/** Gives commands a lower priority than the worker; their setup is not affected. */
const niceness = 10;
/** Memory that V8 reserves at startup and never uses; actual use is monitored. */
const reservedBytes = 2 ** 30;

export interface ProfileCall {
  jobId: string;
  /** Absolute path of the tree, which is all that the command can write to. */
  tree: string;
  command: string;
  timeoutMs: number;
  /** Differences of the command's environment from the sandbox's defaults. */
  environment?: Partial<CommandEnvironment>;
}

/** A command with everything that surrounds it. */
export interface PlacedCall extends ProfileCall {
  environment: CommandEnvironment;
  hasAuthorities: boolean;
}

type Placed = PlacedCall & Pick<Machine, 'node'>;

/** Returns the environment variables that the command's shell exports before it runs the command. */
export function variablesOf({ environment, hasAuthorities }: PlacedCall): Record<string, string> {
  const { root, variables } = environment;
  const own = new Set([...ownVariables, ...(hasAuthorities ? authoritiesVariables : [])]);
  const fromImage = Object.entries(root?.variables ?? {}).filter(([name]) => !own.has(name));
  return { ...Object.fromEntries(fromImage), ...variables };
}

/** Variables of an image that the sandbox sets itself. */
const ownVariables = ['HOME', 'PATH', ...Object.keys(proxyEnvironment)];

/** Returns the program and arguments that run a command in the sandbox. */
export function sandboxCommand(machine: Machine, call: PlacedCall): { file: string; args: string[] } {
  const { bwrap, root, node } = machine;
  if (root === null) {
    return { file: bwrap, args: sandboxArguments(machine, { ...call, node }) };
  }
  const { home, mounts, root: image } = call.environment;
  // a separate user may not have access to the folders above the tree, so root mounts what it needs where it does
  const environment = {
    ...call.environment,
    root: image && { ...image, directory: '/tmp/root' },
    home: home && '/tmp/home',
    mounts: mounts.map((mount, index) => ({ ...mount, source: `/tmp/mount-${index}` })),
  };
  const staged = { tree: '/tmp/tree', node: node && { file: '/tmp/node', npm: node.npm && '/tmp/npm' }, environment };
  const stage = [
    ['--dev-bind', '/', '/', '--tmpfs', '/tmp', '--bind', call.tree, staged.tree],
    image === null ? [] : ['--ro-bind', image.directory, '/tmp/root'],
    home === null ? [] : ['--bind', home, '/tmp/home'],
    mounts.flatMap(({ source }, index) => ['--bind', source, `/tmp/mount-${index}`]),
    node === null ? [] : ['--ro-bind', node.file, '/tmp/node'],
    node?.npm == null ? [] : ['--ro-bind', node.npm, '/tmp/npm'],
    // its first process runs as the worker's user, which can kill it when the worker is gone; all others end with it
    ['--unshare-pid', '--json-status-fd', String(stageFd), '--cap-add', 'ALL', '--die-with-parent', '--'],
  ].flat();
  const uid = uidOf(root.uids, call.jobId);
  const become = [root.setpriv, `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', bwrap];
  return { file: bwrap, args: [...stage, ...become, ...sandboxArguments(machine, { ...call, ...staged })] };
}

/** Returns the user that a job's commands run as. */
export function uidOf({ first, count }: { first: number; count: number }, jobId: string): number {
  return first + (createHash('sha256').update(jobId).digest().readUInt32LE() % count);
}

function sandboxArguments(machine: Machine, placed: Placed): string[] {
  const { tree, timeoutMs, environment, hasAuthorities } = placed;
  const { limits, home, mounts, path, isInstaller } = environment;
  const user = isInstaller ? '0' : '1000';
  const programs =
    environment.root === null ? machinePrograms(machine, placed) : imagePrograms(machine, placed, environment.root);
  // files in memory count toward the memory limit, so more space would be of no use
  const size = ['--size', String(Math.min(limits.diskBytes, limits.memoryBytes))];
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--die-with-parent'],
    ['--new-session', '--clearenv', '--hostname', 'job', '--uid', user, '--gid', user],
    ['--setenv', 'PATH', [...path, programs.path].join(':')],
    ['--setenv', 'HOME', home === null ? '/tmp' : homePoint, '--setenv', 'LANG', 'C.UTF-8'],
    Object.entries(isOnline(placed) ? proxyEnvironment : {}).flatMap((variable) => ['--setenv', ...variable]),
    (hasAuthorities ? authoritiesVariables : []).flatMap((name) => ['--setenv', name, authoritiesFile]),
    programs.mounts,
    // the device folder is an in-memory file system, too, so only /dev/shm is left writable in it
    ['--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--proc', '/proc', ...size, '--perms', '1777', '--tmpfs', '/tmp'],
    home === null ? ['--symlink', '/tmp', homePoint] : ['--bind', home, homePoint],
    mounts.flatMap(({ source, target, isReadOnly }) => [isReadOnly ? '--ro-bind' : '--bind', source, target]),
    isInstaller ? ['--chdir', '/'] : ['--bind', tree, treePoint, '--remount-ro', '/', '--chdir', treePoint],
    ['--seccomp', String(filterFd), '--json-status-fd', String(statusFd), '--'],
    [...programs.prlimit, `--nproc=${limits.processes}`, `--data=${limits.memoryBytes + reservedBytes}`],
    [`--fsize=${limits.diskBytes}`, `--nofile=${openFiles}`, '--core=0', `--cpu=${Math.ceil(timeoutMs / 500)}`, '--'],
    [...programs.nice, '-n', String(niceness)],
    programs.shell,
  ].flat();
}

/** Programs that a command finds, and those that start it. */
interface Programs {
  path: string;
  mounts: string[];
  prlimit: string[];
  nice: string[];
  /** Runs the command. */
  shell: string[];
}

const isOnline = ({ environment }: Placed) => environment.hosts.length > 0;
/** Script that starts the command, as its first argument, once nothing but its output is open. */
const script = `exec 2>&1; . ${variablesFile}; eval "$1"`;

function machinePrograms({ system, configuration, prlimit, shell }: Machine, placed: Placed): Programs {
  const { node, command } = placed;
  const waiting = { fd: channelFd, script, command };
  const words = [node === null ? process.execPath : directoryOfNode];
  return {
    path: [...(node === null ? [] : ['/opt/node/bin']), usualPath].join(':'),
    mounts: [
      ['--ro-bind', '/usr', '/usr'],
      system.flatMap(({ path, link }) => (link === null ? ['--ro-bind', path, path] : ['--symlink', link, path])),
      [...readable, ...configuration].flatMap((path) => ['--ro-bind-try', path, path]),
      mountedFiles().flatMap((path) => ['--file', String(descriptorOf(path)), path]),
      nodeArguments(node),
    ].flat(),
    prlimit: [prlimit],
    nice: ['nice'],
    shell: [shell, ...(isOnline(placed) ? onlineShell({ ...waiting, node: words }) : offlineShell(waiting))],
  };
}

/** The image's shell, which may be hostile, is started once the network channel is closed and the limits are set. */
function imagePrograms({ helpers, node: ownNode }: Machine, placed: Placed, root: SandboxRoot): Programs {
  if (helpers === null)
    throw new SandboxError('Images cannot be used here: the libraries of the shell were not found.');
  const { node, command, tree, environment } = placed;
  const { isInstaller } = environment;
  const sh = helperCommand(helpers, 'sh');
  const waiting = { fd: channelFd, script: `exec ${root.shell} -c '${script}' command "$1"`, command };
  const words = helperCommand(helpers, 'node');
  return {
    path: root.variables['PATH'] ?? usualPath,
    mounts: [
      isInstaller
        ? ['--bind', tree, '/']
        : root.entries.flatMap(({ path, link }) =>
            link === null ? ['--ro-bind', join(root.directory, path), path] : ['--symlink', link, path],
          ),
      mountedFiles()
        .filter((path) => !isInstaller || !accountFiles.includes(path))
        .flatMap((path) => ['--ro-bind-data', String(descriptorOf(path)), path]),
      Object.entries(helpers.files).flatMap(([name, file]) => {
        const source = file === ownNode?.file && node !== null ? node.file : file;
        return ['--ro-bind', source, join(helperFolder, name)];
      }),
    ].flat(),
    prlimit: helperCommand(helpers, 'prlimit'),
    nice: helperCommand(helpers, 'nice'),
    shell: [...sh, ...(isOnline(placed) ? onlineShell({ ...waiting, node: words }) : offlineShell(waiting))],
  };
}

function descriptorOf(path: string): number {
  return path === variablesFile ? variablesFd : filterFd + 1 + Object.keys(madeFiles).indexOf(path);
}

function nodeArguments(node: Machine['node']): string[] {
  if (node === null) return [];
  const bin = ['--ro-bind', node.file, directoryOfNode];
  if (node.npm === null) return bin;
  const cli = '../lib/node_modules/npm/bin';
  return [
    bin,
    ['--ro-bind', node.npm, '/opt/node/lib/node_modules/npm'],
    ['--symlink', `${cli}/npm-cli.js`, '/opt/node/bin/npm', '--symlink', `${cli}/npx-cli.js`, '/opt/node/bin/npx'],
  ].flat();
}
