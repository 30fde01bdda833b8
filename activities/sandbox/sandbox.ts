import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createLauncher } from './launcher.ts';
import type { Machine } from './machine.ts';
import { openMemoryGroups } from './memory-group.ts';
import type { SandboxNetwork } from './network.ts';
import { madeFilesOf, sandboxCommand, uidOf, type SandboxLimits } from './profile.ts';
import { RunningCommand, type CommandEnd, type SandboxCall } from './running-command.ts';
import { WorkerDiskFullError } from './sandbox-error.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { createTreeOwner } from './tree-owner.ts';
import { isDiskFull, mendTree, openToOwner } from './tree.ts';
import { watchCommand } from './watch.ts';

export interface Sandbox {
  /** Whether the kernel limits the combined memory of a command's processes; otherwise it is measured every 100 ms. */
  limitsMemory: boolean;
  /**
   * Runs a shell command with a tree as its working directory. By the time it resolves, or rejects because the signal
   * aborted, every process of the command has ended. Throws SandboxError when the command could not be started, and
   * WorkerDiskFullError.
   */
  run(call: SandboxCall): Promise<CommandEnd>;
}

export interface SandboxOptions {
  machine: Machine;
  limits: SandboxLimits;
  /** Null when commands have no network except their own loopback. */
  network: SandboxNetwork | null;
  /** PEM certificates that commands use to verify peers; null leaves the choice to the machine. */
  authorities: string | null;
  /** Holds the files that bubblewrap reads and the output pipes; must not be shared with another process. */
  directory: string;
}

/** Creates the sandbox of an inspected machine. */
export async function createSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { machine, limits, network, authorities, directory } = options;
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const inputs: string[] = [];
  const contents = [['filter.bpf', seccompFilter(machine.architecture)] as const, ...madeFilesOf(authorities)];
  for (const [name, content] of contents) {
    const path = join(directory, basename(name));
    await writeFile(path, content, { mode: 0o600 });
    inputs.push(path);
  }
  const { root } = machine;
  const isOnline = network !== null;
  const groups = await openMemoryGroups(limits.memoryBytes);
  const launcher = await createLauncher({ directory, inputs, groups, isOnline, isRoot: root !== null });
  const owner = createTreeOwner();

  return {
    limitsMemory: groups !== null,
    async run(call) {
      call.signal.throwIfAborted();
      const { tree } = call;
      if (root !== null) {
        openToOwner(tree);
        owner.give(tree, uidOf(root.uids, call.jobId));
      }
      const { child, stream, group, become } = await launcher.take();
      using _stream = { [Symbol.dispose]: () => void stream.destroy() };
      const { file, args } = sandboxCommand(machine, limits, {
        ...call,
        isOnline,
        hasAuthorities: authorities !== null,
      });
      const command = new RunningCommand({ child, stream, network });
      using watch = watchCommand({
        tree,
        limits,
        group,
        firstPid: () => command.firstPid,
        onExcess: (excess) => command.stop(excess),
      });
      become(file, args);
      const end = await command.end(call, () => watch.lastLook());
      group?.release();
      if (root === null) await mendTree(tree);
      call.signal.throwIfAborted();
      if (end.exitCode !== 0 && end.stopped === null && isDiskFull(tree))
        throw new WorkerDiskFullError("The worker's disk is full.");
      return end;
    },
  };
}
