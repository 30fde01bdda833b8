import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { statusFd, uidOfJob } from './engine.ts';
import type { EngineOptions, PreparedCommand, SandboxEngine } from './engine.ts';
import { helperCommand } from './helpers.ts';
import { NoSandboxError, type Machine } from './machine.ts';
import { channelFd, madeFilesOf, profileOf, usualUid, variablesFd } from './profile.ts';
import type { Bind, PlacedCall, Profile } from './profile.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { shellWord } from '../../lib/shell-word.ts';

/** Descriptor of the container that leads to the command's output: 3 and 4 are the channel's and the variables'. */
const outputFd = variablesFd + 1;
/** Copy of the shell's own input, which a process in the background would not have. */
const inputFd = statusFd + 1;
/** Folders that a container runtime needs. */
const folders = ['dev', 'proc', 'sys', 'run', 'tmp'];
const openFiles = 1_024;
/** Podman lowers its own limit to the kernel's `pid_max`, which is at least this unless someone has lowered it. */
const maxProcesses = 32_768;
/** In characters; podman does not clean up after a container if this path is longer. */
const maxRunPathLength = 50;
/** Options of every container. The filter comes in an annotation, instead of the one that podman would make. */
const fixedOptions = [
  'run --rm --log-driver none --cgroups=disabled --oom-score-adj 500 --hostname job --no-hosts --passwd=false',
  '--network none --ipc none --cap-drop ALL --security-opt no-new-privileges --security-opt label=disable',
  '--security-opt seccomp=unconfined --security-opt mask=/sys:/dev/mqueue --unsetenv-all',
  `--ulimit nofile=${openFiles}:${openFiles} --preserve-fds ${outputFd - 2}`,
].flatMap((line) => line.split(' '));
/** A container whose worker and whose shell were killed ends this long after its time. */
const graceSeconds = 30;

/**
 * Creates the engine that runs commands in containers of podman, with crun. The root of a container is an empty folder
 * in which everything is mounted, so that nothing is copied into the storage of podman; `directory` has that storage.
 * The container stays in the memory group of its parent, and has the system call filter of the other engine.
 */
export async function createPodman(machine: Machine, options: EngineOptions): Promise<SandboxEngine> {
  const { directory, authorities } = options;
  const { architecture, root } = machine;
  const runFolder = join(directory, 'run');
  if (runFolder.length > maxRunPathLength)
    throw new NoSandboxError(
      `podman needs a shorter path than ${runFolder}; set TMPDIR to a folder whose path is ${runFolder.length - maxRunPathLength} or more characters shorter`,
    );
  const processLimit = await processLimitOfAll();
  const settings = { containers: join(directory, 'containers.conf'), storage: join(directory, 'storage.conf') };
  await writeFile(settings.containers, containersSettings);
  await writeFile(settings.storage, storageSettings({ graph: join(directory, 'storage'), run: runFolder }));
  const filterOf = (isInstaller: boolean) => seccompFilter(architecture, { isInstaller }).toString('base64');
  const filters = { command: filterOf(false), installer: filterOf(true) };
  const environment = [
    'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    `HOME=${shellWord(directory)}`,
    `CONTAINERS_CONF=${shellWord(settings.containers)}`,
    `CONTAINERS_STORAGE_CONF=${shellWord(settings.storage)}`,
  ].join(' ');

  /** A root that installs packages is the machine's, without capabilities: the copy of the image belongs to it. */
  function uidOf({ jobId, environment: { isInstaller } }: Pick<PlacedCall, 'jobId' | 'environment'>): number | null {
    if (root === null) return null;
    return isInstaller ? 0 : uidOfJob(root.uids, jobId);
  }

  /** Returns the options for the user: without root, the worker's own, who is another one inside. */
  function userOptions(call: PlacedCall): string[] {
    const uid = uidOf(call);
    if (uid !== null) return ['--user', `${uid}:${uid}`];
    if (call.environment.isInstaller) return ['--user', '0:0'];
    return [`--userns=keep-id:uid=${usualUid},gid=${usualUid}`];
  }

  async function prepare(call: PlacedCall, prefix: readonly string[]): Promise<PreparedCommand> {
    await using resources = new AsyncDisposableStack();
    const own = resources.adopt(await mkdtemp(join(directory, 'container-')), (path) =>
      rm(path, { recursive: true, force: true }),
    );
    const profile = profileOf(machine, call);
    const pidFile = join(own, 'pid');
    const { isInstaller } = call.environment;
    const rootFolder = isInstaller ? call.tree : join(own, 'root');
    const binds = profile.binds.filter(({ source, isOptional = false }) => !isOptional || existsSync(source));
    for (const [target, content] of madeFilesOf(authorities, uidOf(call) ?? usualUid)) {
      const source = join(own, basename(target));
      await writeFile(source, content);
      if (profile.files.includes(target)) binds.push({ source, target, isReadOnly: true });
    }
    // nothing is written to the copy of an image from here: its links may lead anywhere
    if (!isInstaller) await makeRoot(rootFolder, { links: profile.links, binds });
    const words = [
      [...prefix, machine.program, ...fixedOptions, ...userOptions(call), '--pidfile', pidFile],
      [`--timeout=${Math.ceil(call.timeoutMs / 1000) + graceSeconds}`, `--ulimit=nproc=${processLimit}`],
      ['--annotation', `run.oci.seccomp_bpf_data=${isInstaller ? filters.installer : filters.command}`],
      isInstaller ? [] : ['--read-only', '--read-only-tmpfs=false'],
      ['/tmp', '/dev/shm'].flatMap((path) => ['--tmpfs', `${path}:${tmpfsOptions(profile)}`]),
      Object.entries(profile.variables).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
      binds.flatMap((bind) => ['--mount', mountOf(bind)]),
      ['--workdir', profile.directory, '--rootfs', rootFolder, ...initWords(machine, call), ...profile.words],
    ].flat();
    const script = scriptOf({ environment, words, pidFile });
    const held = resources.move();
    return { script, pidFile, isWatched: true, [Symbol.asyncDispose]: () => held.disposeAsync() };
  }

  return { inputs: [], stageFd: null, uidOf, prepare };
}

/**
 * Returns the limit on processes with which a container starts; its command gets a lower one inside. The kernel counts
 * the processes of all containers toward a limit that was set before their user namespaces were made.
 */
async function processLimitOfAll(): Promise<number> {
  const [, own = ''] = /^Max processes +\S+ +(\d+)/m.exec(await readFile('/proc/self/limits', 'utf8')) ?? [];
  return Math.min(Number(own) || maxProcesses, maxProcesses);
}

/**
 * Makes the root of a container. Podman adds what something is mounted on; it belongs to another user, who may add
 * nothing but empty folders and files, so that the root can be removed.
 */
async function makeRoot(path: string, { links, binds }: Pick<Profile, 'links' | 'binds'>): Promise<void> {
  const parents = binds.map(({ target }) => dirname(target));
  for (const folder of [...folders, ...parents]) await mkdir(join(path, folder), { recursive: true });
  for (const link of links) {
    await mkdir(dirname(join(path, link.path)), { recursive: true });
    await symlink(link.target, join(path, link.path));
  }
}

/** Returns the words of the container's first process, which waits for those that lose their parents. */
function initWords({ helpers }: Machine, { environment }: PlacedCall): string[] {
  const sh = environment.root === null || helpers === null ? ['/bin/sh'] : helperCommand(helpers, 'sh');
  return [...sh, '-c', `unset HOSTNAME; exec >&${outputFd} ${outputFd}>&-; "$@"; exit $?`, 'init'];
}

/**
 * Returns the script that starts a container and reports its end. When its input closes, because the worker is gone, it
 * ends the container. It is one command, which the shell reads as a whole before the process in the background does.
 */
function scriptOf({ environment, words, pidFile }: { environment: string; words: string[]; pidFile: string }): string {
  const closed = [channelFd, variablesFd, statusFd].map((fd) => `${fd}>&-`).join(' ');
  return `{
exec ${inputFd}<&0
{ read -r _ <&${inputFd}; kill -KILL "$(cat ${shellWord(pidFile)})"; } > /dev/null 2>&1 ${closed} &
${environment} ${words.map(shellWord).join(' ')} ${outputFd}>&1 > /dev/null < /dev/null ${inputFd}<&-
code=$?
kill $!
echo '{"exit-code": '$code'}' >&${statusFd}
exit
}
`;
}

/** Returns the value of `--mount`, whose fields are those of a CSV record. */
function mountOf({ source, target, isReadOnly }: Bind): string {
  return ['type=bind', `src=${source}`, `dst=${target}`, `ro=${isReadOnly}`]
    .map((field) => (/[",]/.test(field) ? `"${field.replaceAll('"', '""')}"` : field))
    .join(',');
}

function tmpfsOptions({ memoryFileBytes }: Profile): string {
  return `rw,exec,nosuid,nodev,notmpcopyup,mode=1777,size=${memoryFileBytes}`;
}

/** Settings instead of those of the machine and of the user, which could add mounts, devices and variables. */
const containersSettings = `[containers]
default_mounts_file = "/dev/null"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
runtime = "crun"
`;

function storageSettings({ graph, run }: { graph: string; run: string }): string {
  return `[storage]
driver = "vfs"
graphroot = ${JSON.stringify(graph)}
runroot = ${JSON.stringify(run)}
`;
}
