import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { statusFd, uidOfJob } from './engine.ts';
import type { EngineOptions, PreparedCommand, SandboxEngine } from './engine.ts';
import type { Machine } from './machine.ts';
import { madeFilesOf, profileOf, usualUid } from './profile.ts';
import type { Bind, PlacedCall, Profile } from './profile.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { shellWord } from '../../lib/shell-word.ts';

const filterFd = statusFd + 1;
/** Files to create are read from the descriptors after that of the filter. */
const madeFds = new Map(madeFilesOf(null).map(([path], index) => [path, filterFd + 1 + index]));
const stageFd = filterFd + 1 + madeFds.size;

/** How a command is described, and what stands before the arguments of the sandbox that it describes. */
interface Staged {
  machine: Machine;
  call: PlacedCall;
  before: string[];
}

/** Creates the engine that runs commands in bubblewrap, with its input files in `directory`. */
export async function createBubblewrap(machine: Machine, options: EngineOptions): Promise<SandboxEngine> {
  const { directory, authorities } = options;
  const { architecture, root } = machine;
  const inputs: string[] = [];
  const contents = [['filter.bpf', seccompFilter(architecture)] as const, ...madeFilesOf(authorities)];
  for (const [name, content] of contents) {
    const path = join(directory, basename(name));
    await writeFile(path, content, { mode: 0o600 });
    inputs.push(path);
  }
  const installerFilter = join(directory, 'installer-filter.bpf');
  await writeFile(installerFilter, seccompFilter(architecture, { isInstaller: true }), { mode: 0o600 });

  return {
    inputs,
    stageFd: root === null ? null : stageFd,
    uidOf: ({ jobId }) => root && uidOfJob(root.uids, jobId),
    prepare: (call, prefix) => Promise.resolve(prepare(call, prefix)),
  };

  function prepare(call: PlacedCall, prefix: readonly string[]): PreparedCommand {
    const staged = root === null ? { machine, call, before: [] } : stagedBy(root, call);
    const profile = profileOf(staged.machine, staged.call);
    const words = [...prefix, machine.program, ...staged.before, ...argumentsOf(profile, staged.call)];
    // an installer has its own filter, and no input for the files that are not created for it
    const closed = [...madeFds].filter(([path]) => !profile.files.includes(path)).map(([, fd]) => `${fd}<&-`);
    const redirects = call.environment.isInstaller ? [`${filterFd}<`, shellWord(installerFilter), ...closed] : [];
    const script = `exec ${words.map(shellWord).join(' ')} < /dev/null ${redirects.join(' ')}\n`;
    return { script, isWatched: false, pidFile: null, async [Symbol.asyncDispose]() {} };
  }

  /**
   * Puts a sandbox around that of a command: a separate user may not have access to the folders above the tree, so root
   * mounts what it needs where it does.
   */
  function stagedBy({ setpriv, uids }: NonNullable<Machine['root']>, call: PlacedCall): Staged {
    const { node, helpers, program } = machine;
    const { home, mounts, root: image } = call.environment;
    const environment = {
      ...call.environment,
      root: image && { ...image, directory: '/tmp/root' },
      home: home && '/tmp/home',
      mounts: mounts.map((mount, index) => ({ ...mount, source: `/tmp/mount-${index}` })),
    };
    const stagedNode = node && { file: '/tmp/node', npm: node.npm && '/tmp/npm' };
    const helperFiles = Object.entries(helpers?.files ?? {}).map(
      ([name, file]) => [name, file === node?.file ? '/tmp/node' : file] as const,
    );
    const stagedMachine = {
      ...machine,
      node: stagedNode,
      helpers: helpers && { ...helpers, files: Object.fromEntries(helperFiles) },
    };
    const outer = [
      ['--dev-bind', '/', '/', '--tmpfs', '/tmp', '--bind', call.tree, '/tmp/tree'],
      image === null ? [] : ['--ro-bind', image.directory, '/tmp/root'],
      home === null ? [] : ['--bind', home, '/tmp/home'],
      mounts.flatMap(({ source }, index) => ['--bind', source, `/tmp/mount-${index}`]),
      node === null ? [] : ['--ro-bind', node.file, '/tmp/node'],
      node?.npm == null ? [] : ['--ro-bind', node.npm, '/tmp/npm'],
      // its first process runs as the worker's user, which can kill it when the worker is gone; all others end with it
      ['--unshare-pid', '--json-status-fd', String(stageFd), '--cap-add', 'ALL', '--die-with-parent', '--'],
    ].flat();
    const uid = uidOfJob(uids, call.jobId);
    const become = [setpriv, `--reuid=${uid}`, `--regid=${uid}`, '--clear-groups', '--no-new-privs', program];
    const stagedCall = { ...call, tree: '/tmp/tree', environment };
    return { machine: stagedMachine, call: stagedCall, before: [...outer, ...become] };
  }
}

function argumentsOf(profile: Profile, { tree, environment: { isInstaller, root } }: PlacedCall): string[] {
  const { links, binds, files, variables, memoryFileBytes, directory, words } = profile;
  const user = isInstaller ? '0' : String(usualUid);
  const size = ['--size', String(memoryFileBytes)];
  // the files of an image exist, and are hidden by those that are created
  const create = root === null ? '--file' : '--ro-bind-data';
  return [
    ['--unshare-all', '--unshare-user', '--disable-userns', '--cap-drop', 'ALL', '--die-with-parent'],
    ['--new-session', '--clearenv', '--hostname', 'job', '--uid', user, '--gid', user],
    Object.entries(variables).flatMap((variable) => ['--setenv', ...variable]),
    isInstaller ? ['--bind', tree, '/'] : [],
    // the device folder is an in-memory file system, too, so only /dev/shm is left writable in it
    ['--dev', '/dev', ...size, '--tmpfs', '/dev/shm', '--remount-ro', '/dev'],
    ['--proc', '/proc', ...size, '--perms', '1777', '--tmpfs', '/tmp'],
    binds.flatMap(bindArguments),
    links.flatMap(({ path, target }) => ['--symlink', target, path]),
    files.flatMap((path) => [create, String(madeFds.get(path)), path]),
    isInstaller ? [] : ['--remount-ro', '/'],
    ['--chdir', directory, '--seccomp', String(filterFd), '--json-status-fd', String(statusFd), '--'],
    words,
  ].flat();
}

function bindArguments({ source, target, isReadOnly, isOptional = false }: Bind): string[] {
  return [`${isReadOnly ? '--ro-bind' : '--bind'}${isOptional ? '-try' : ''}`, source, target];
}
