import { join } from 'node:path';
import { homePoint, treePoint, type CommandEnvironment } from './command-environment.ts';
import { helperCommand, helperFolder } from './helpers.ts';
import type { Machine } from './machine.ts';
import { offlineShell, onlineShell, proxyEnvironment } from './network.ts';
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

/** Channel on which a command waits for an answer before it starts, and over which it hands out its listening socket. */
export const channelFd = 3;
/** Descriptor from which a command reads its variables. */
export const variablesFd = 4;

/** User that commands run as, as they see it, unless the engine says otherwise. */
export const usualUid = 1_000;
const hostnameFile = '/etc/hostname';
/** Files of accounts, which an installer adds its own to. */
const accountFiles = ['/etc/passwd', '/etc/group'];

/** Returns the files to create for a user, with their contents. */
export function madeFilesOf(authorities: string | null, uid = usualUid): [path: string, content: string][] {
  return [
    ['/etc/passwd', `root:x:0:0:root:/:/bin/sh\njob:x:${uid}:${uid}:job:${homePoint}:/bin/sh\n`],
    ['/etc/group', `root:x:0:\njob:x:${uid}:\n`],
    ['/etc/hosts', '127.0.0.1 localhost\n::1 localhost\n'],
    [authoritiesFile, authorities ?? ''],
  ];
}

/** Returns the files that are mounted over those of an image; a container runtime adds the name of the host. */
export function mountedFiles(): string[] {
  return [...madeFilesOf(null).map(([path]) => path), hostnameFile];
}

const readable = ['/etc/alternatives', '/etc/ld.so.cache', '/etc/ssl', '/etc/pki'];
/** Where commands find a Node installation from outside of `/usr`. */
const ownNodeFolder = '/opt/node';
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

/** Returns the environment variables that the command's shell exports before it runs the command. */
export function variablesOf({ environment, hasAuthorities }: PlacedCall): Record<string, string> {
  const { root, variables } = environment;
  const own = new Set([...ownVariables, ...(hasAuthorities ? authoritiesVariables : [])]);
  const fromImage = Object.entries(root?.variables ?? {}).filter(([name]) => !own.has(name));
  return { ...Object.fromEntries(fromImage), ...variables };
}

/** Variables of an image that the sandbox sets itself. */
const ownVariables = ['HOME', 'PATH', ...Object.keys(proxyEnvironment)];

/** A file or folder of the machine that a command sees at `target`. */
export interface Bind {
  source: string;
  target: string;
  isReadOnly: boolean;
  /** Whether it may be missing. */
  isOptional?: boolean;
}

/** What a command sees and how it starts, in terms of no engine. */
export interface Profile {
  links: { path: string; target: string }[];
  /** In the order in which they are mounted. */
  binds: Bind[];
  /** Files to create, by their paths. */
  files: string[];
  variables: Record<string, string>;
  /** Capacity of `/tmp` and of `/dev/shm`: files in memory count toward its limit, so more would be of no use. */
  memoryFileBytes: number;
  /** Folder in which the command starts. */
  directory: string;
  /** Words that set the limits and start the command. */
  words: string[];
}

/** Describes what a command sees and how it starts. */
export function profileOf(machine: Machine, placed: PlacedCall): Profile {
  const { tree, timeoutMs, environment, hasAuthorities } = placed;
  const { limits, home, mounts, path, isInstaller, root } = environment;
  const programs = root === null ? machinePrograms(machine, placed) : imagePrograms(machine, placed, root);
  const own = home === null ? [] : [{ source: home, target: homePoint, isReadOnly: false }];
  const binds = [...programs.binds, ...own, ...mounts];
  if (!isInstaller) binds.push({ source: tree, target: treePoint, isReadOnly: false });
  return {
    links: [...programs.links, ...(home === null ? [{ path: homePoint, target: '/tmp' }] : [])],
    binds,
    files: mountedFiles().filter((file) => file !== hostnameFile && !(isInstaller && accountFiles.includes(file))),
    variables: {
      PATH: [...path, programs.path].join(':'),
      HOME: home === null ? '/tmp' : homePoint,
      LANG: 'C.UTF-8',
      ...(isOnline(placed) ? proxyEnvironment : {}),
      ...(hasAuthorities ? Object.fromEntries(authoritiesVariables.map((name) => [name, authoritiesFile])) : {}),
    },
    memoryFileBytes: Math.min(limits.diskBytes, limits.memoryBytes),
    directory: isInstaller ? '/' : treePoint,
    words: [
      [...programs.prlimit, `--nproc=${limits.processes}`, `--data=${limits.memoryBytes + reservedBytes}`],
      [`--fsize=${limits.diskBytes}`, `--nofile=${openFiles}`, '--core=0', `--cpu=${Math.ceil(timeoutMs / 500)}`, '--'],
      [...programs.nice, '-n', String(niceness)],
      programs.shell,
    ].flat(),
  };
}

/** Programs that a command finds, and those that start it. */
interface Programs extends Pick<Profile, 'links' | 'binds'> {
  path: string;
  prlimit: string[];
  nice: string[];
  /** Runs the command. */
  shell: string[];
}

const isOnline = ({ environment }: PlacedCall) => environment.hosts.length > 0;
/**
 * Script that starts the command, its first argument, once it has read its variables and nothing but its output is
 * open. It contains no single quotes.
 */
const script = `exec 2>&1; v=; while IFS= read -r l; do v="$v$l
"; done <&${variablesFd}; exec ${variablesFd}<&-; eval "unset v l; $v"; eval "$1"`;

function machinePrograms({ system, configuration, prlimit, shell, node }: Machine, placed: PlacedCall): Programs {
  const waiting = { fd: channelFd, script, command: placed.command };
  const words = [node === null ? process.execPath : join(ownNodeFolder, 'bin/node')];
  const ownNode = node === null ? { links: [], binds: [] } : nodeOf(node);
  const folders = ['/usr', ...system.flatMap(({ path, link }) => (link === null ? [path] : []))];
  return {
    path: [...(node === null ? [] : [join(ownNodeFolder, 'bin')]), usualPath].join(':'),
    links: [...system.flatMap(({ path, link }) => (link === null ? [] : [{ path, target: link }])), ...ownNode.links],
    binds: [
      ...folders.map((path) => ({ source: path, target: path, isReadOnly: true })),
      ...[...readable, ...configuration].map((path) => ({
        source: path,
        target: path,
        isReadOnly: true,
        isOptional: true,
      })),
      ...ownNode.binds,
    ],
    prlimit: [prlimit],
    nice: ['nice'],
    shell: [shell, ...(isOnline(placed) ? onlineShell({ ...waiting, node: words }) : offlineShell(waiting))],
  };
}

/** The image's shell, which may be hostile, is started once the network channel is closed and the limits are set. */
function imagePrograms({ helpers }: Machine, placed: PlacedCall, root: SandboxRoot): Programs {
  if (helpers === null)
    throw new SandboxError('Images cannot be used here: the libraries of the shell were not found.');
  const { command, environment } = placed;
  const sh = helperCommand(helpers, 'sh');
  const waiting = { fd: channelFd, script: `exec ${root.shell} -c '${script}' command "$1"`, command };
  const words = helperCommand(helpers, 'node');
  const entries = environment.isInstaller ? [] : root.entries;
  const files = entries.flatMap(({ path, link }) =>
    link === null ? [{ source: join(root.directory, path), path }] : [],
  );
  return {
    path: root.variables['PATH'] ?? usualPath,
    links: entries.flatMap(({ path, link }) => (link === null ? [] : [{ path, target: link }])),
    binds: [
      ...files.map(({ source, path }) => ({ source, target: path, isReadOnly: true })),
      ...Object.entries(helpers.files).map(([name, source]) => ({
        source,
        target: join(helperFolder, name),
        isReadOnly: true,
      })),
    ],
    prlimit: helperCommand(helpers, 'prlimit'),
    nice: helperCommand(helpers, 'nice'),
    shell: [...sh, ...(isOnline(placed) ? onlineShell({ ...waiting, node: words }) : offlineShell(waiting))],
  };
}

function nodeOf({ file, npm }: NonNullable<Machine['node']>): Pick<Programs, 'links' | 'binds'> {
  const binds = [{ source: file, target: join(ownNodeFolder, 'bin/node'), isReadOnly: true }];
  if (npm === null) return { links: [], binds };
  const target = 'lib/node_modules/npm';
  return {
    links: ['npm', 'npx'].map((name) => ({
      path: join(ownNodeFolder, 'bin', name),
      target: `../${target}/bin/${name}-cli.js`,
    })),
    binds: [...binds, { source: npm, target: join(ownNodeFolder, target), isReadOnly: true }],
  };
}
