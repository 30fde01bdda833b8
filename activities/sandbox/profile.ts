import { createHash } from 'node:crypto';
import { homePoint, type CommandEnvironment } from './command-environment.ts';
import type { Machine } from './machine.ts';
import { onlineShell, proxyEnvironment } from './network.ts';

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

/** Returns the files to create, with their contents. */
export function madeFilesOf(authorities: string | null): [path: string, content: string][] {
  return Object.entries({ ...madeFiles, [authoritiesFile]: authorities ?? '' });
}

/** Channel over which the sandbox hands out its listening socket, if commands have network access. */
export const channelFd = filterFd + 1 + Object.keys(madeFiles).length;
/** Descriptor to which the outer of two sandboxes reports its first process, if the worker is root. */
export const stageFd = channelFd + 1;
/** Descriptor from which bubblewrap reads the command's variables, above those that a shell names by one digit. */
export const variablesFd = stageFd + 1;
const variablesFile = '/etc/docket/variables';

const readable = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl', '/etc/pki'];
const mountPoint = '/tree';
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
  /** What surrounds the command where it differs from the sandbox's defaults. */
  environment?: Partial<CommandEnvironment>;
}

/** A command with everything that surrounds it. */
export interface PlacedCall extends ProfileCall {
  environment: CommandEnvironment;
  /** Whether the sandbox has a network channel, which is closed for a command without hosts. */
  hasChannel: boolean;
  hasAuthorities: boolean;
}

type Placed = PlacedCall & Pick<Machine, 'node'>;

/** Returns the program and arguments that run a command in the sandbox. */
export function sandboxCommand(machine: Machine, call: PlacedCall): { file: string; args: string[] } {
  const { bwrap, root, node } = machine;
  if (root === null) {
    return { file: bwrap, args: sandboxArguments(machine, { ...call, node }) };
  }
  const { home, mounts } = call.environment;
  // a separate user may not have access to the folders above the tree, so root mounts what it needs where it does
  const environment = {
    ...call.environment,
    home: home && '/tmp/home',
    mounts: mounts.map((mount, index) => ({ ...mount, source: `/tmp/mount-${index}` })),
  };
  const staged = { tree: '/tmp/tree', node: node && { file: '/tmp/node', npm: node.npm && '/tmp/npm' }, environment };
  const stage = [
    ['--dev-bind', '/', '/', '--tmpfs', '/tmp', '--bind', call.tree, staged.tree],
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

function sandboxArguments(
  { system, prlimit, shell }: Machine,
  { tree, command, timeoutMs, node, environment, hasChannel, hasAuthorities }: Placed,
): string[] {
  const { limits, home, mounts, path } = environment;
  const isOnline = environment.hosts.length > 0;
  // files in memory count toward the memory limit, so more space would be of no use
  const size = ['--size', String(Math.min(limits.diskBytes, limits.memoryBytes))];
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--die-with-parent'],
    ['--new-session', '--clearenv', '--hostname', 'job', '--uid', '1000', '--gid', '1000'],
    ['--setenv', 'PATH', [...path, ...(node === null ? [] : ['/opt/node/bin']), usualPath].join(':')],
    ['--setenv', 'HOME', home === null ? '/tmp' : homePoint, '--setenv', 'LANG', 'C.UTF-8'],
    Object.entries(isOnline ? proxyEnvironment : {}).flatMap((variable) => ['--setenv', ...variable]),
    (hasAuthorities ? authoritiesVariables : []).flatMap((name) => ['--setenv', name, authoritiesFile]),
    ['--ro-bind', '/usr', '/usr'],
    system.flatMap(({ path, link }) => (link === null ? ['--ro-bind', path, path] : ['--symlink', link, path])),
    readable.flatMap((path) => ['--ro-bind-try', path, path]),
    Object.keys(madeFiles).flatMap((path, index) => ['--file', String(filterFd + 1 + index), path]),
    ['--file', String(variablesFd), variablesFile],
    nodeArguments(node),
    // the device folder is an in-memory file system, too, so only /dev/shm is left writable in it
    ['--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--proc', '/proc', ...size, '--perms', '1777', '--tmpfs', '/tmp'],
    home === null ? ['--symlink', '/tmp', homePoint] : ['--bind', home, homePoint],
    mounts.flatMap(({ source, target, isReadOnly }) => [isReadOnly ? '--ro-bind' : '--bind', source, target]),
    ['--bind', tree, mountPoint, '--remount-ro', '/', '--chdir', mountPoint],
    ['--seccomp', String(filterFd), '--json-status-fd', String(statusFd), '--'],
    [
      prlimit,
      `--nproc=${limits.processes}`,
      `--data=${limits.memoryBytes + reservedBytes}`,
      `--fsize=${limits.diskBytes}`,
    ],
    [`--nofile=${openFiles}`, '--core=0', `--cpu=${Math.ceil(timeoutMs / 500)}`, '--', 'nice', '-n', String(niceness)],
    isOnline
      ? [shell, ...onlineShell({ ...start, node: node === null ? process.execPath : directoryOfNode, command })]
      : [shell, '-c', `${hasChannel ? `exec ${channelFd}>&-; ` : ''}${start.script}`, 'command', command],
  ].flat();
}

/** Script that starts the command, as its first argument, once nothing but its output is open. */
const start = { fd: channelFd, script: `exec 2>&1; . ${variablesFile}; eval "$1"` };

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
