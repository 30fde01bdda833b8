import { mkdir } from 'node:fs/promises';
import { createBubblewrap } from './bubblewrap.ts';
import type { EngineOptions } from './engine.ts';
import { createLauncher } from './launcher.ts';
import type { Machine } from './machine.ts';
import { openMemoryGroups } from './memory-group.ts';
import type { SandboxNetwork } from './network.ts';
import { exportsOf, writableFolders, type CommandEnvironment, type SandboxLimits } from './command-environment.ts';
import { createProcessors, ownProcessors } from './processors.ts';
import { createPodman } from './podman.ts';
import { variablesOf } from './profile.ts';
import { RunningCommand, type CommandEnd, type SandboxCall } from './running-command.ts';
import { WorkerDiskFullError } from './sandbox-error.ts';
import { createTreeOwner } from './tree-owner.ts';
import { isDiskFull, mendTree, openToOwner } from './tree.ts';
import { watchCommand } from './watch.ts';

export interface SandboxOptions extends EngineOptions {
  machine: Machine;
  limits: SandboxLimits;
  /** Null when commands have no network except their own loopback. */
  network: SandboxNetwork | null;
}

/** Returns everything that surrounds a command. It reaches no host that the sandbox does not reach. */
function environmentOf(defaults: CommandEnvironment, own: Partial<CommandEnvironment> = {}): CommandEnvironment {
  const { hosts } = defaults;
  return { ...defaults, ...own, hosts: own.hosts?.filter((host) => hosts.includes(host)) ?? hosts };
}

export type Sandbox = Awaited<ReturnType<typeof createSandbox>>;

/** Creates the sandbox of an inspected machine. */
export async function createSandbox(options: SandboxOptions) {
  const { machine, limits, network, authorities, directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const create = machine.engine === 'podman' ? createPodman : createBubblewrap;
  const engine = await create(machine, { directory, authorities });
  const defaults: CommandEnvironment = {
    root: null,
    home: null,
    mounts: [],
    variables: {},
    path: [],
    hosts: network?.hosts ?? [],
    limits,
    isInstaller: false,
  };
  const groups = await openMemoryGroups(limits.memoryBytes);
  const launcher = await createLauncher({ directory, engine, groups });
  const owner = createTreeOwner();
  const processors = createProcessors(ownProcessors());

  return {
    /** Identifies what commands find installed: what one sandbox installed works in every other of its kind. */
    kind: machine.kind,
    /** Whether the kernel limits the combined memory of a command's processes; otherwise it is measured every 100 ms. */
    limitsMemory: groups !== null,
    /**
     * Runs a shell command with a tree as its working directory. By the time it resolves, or rejects because the signal
     * aborted, every process of the command has ended. Throws SandboxError when the command could not be started, and
     * WorkerDiskFullError.
     */
    async run(call: SandboxCall): Promise<CommandEnd> {
      call.signal.throwIfAborted();
      const { tree } = call;
      const environment = environmentOf(defaults, call.environment);
      const { hosts } = environment;
      const folders = writableFolders(tree, environment);
      const uid = engine.uidOf({ jobId: call.jobId, environment });
      if (uid !== null) {
        for (const folder of folders) {
          openToOwner(folder);
          owner.give(folder, uid);
        }
      }
      const { group, become, ...launch } = await launcher.take();
      using _streams = {
        [Symbol.dispose]: () => [launch.stream, launch.status, launch.stage].forEach((one) => one?.destroy()),
      };
      await group?.limit(environment.limits.memoryBytes);
      const placed = { ...call, environment, hasAuthorities: authorities !== null };
      using cpus = processors.take(environment.limits.cpus);
      // no process of it can leave them, as the system call filter refuses the call
      const prefix = cpus.list === null ? [] : [machine.taskset, '--cpu-list', cpus.list];
      await using prepared = await engine.prepare(placed, prefix);
      const reached = network === null || hosts.length === 0 ? null : { ...network, hosts };
      const { pidFile } = prepared;
      const command = new RunningCommand({ ...launch, network: reached, pidFile, onOutput: call.onOutput });
      using watch = watchCommand({
        tree,
        folders,
        limits: environment.limits,
        group,
        firstPid: () => command.firstPid,
        onExcess: (excess) => command.stop(excess),
      });
      become(prepared, exportsOf(variablesOf(placed)));
      const end = await command.end(call, () => watch.lastLook());
      group?.release();
      if (uid === null) for (const folder of folders) await mendTree(folder);
      call.signal.throwIfAborted();
      if (end.exitCode !== 0 && end.stopped === null && isDiskFull(tree))
        throw new WorkerDiskFullError("The worker's disk is full.");
      return end;
    },
  };
}
