import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Machine } from './machine.ts';
import type { SandboxNetwork } from './network.ts';
import { createOutputPipes, inheritedDescriptors, type OutputPipe } from './pipes.ts';
import {
  channelFd,
  filterFd,
  madeFiles,
  sandboxCommand,
  stageFd,
  uidOf,
  type ProfileCall,
  type SandboxLimits,
} from './profile.ts';
import { RunningCommand, SandboxError, type CommandEnd, type SandboxCall } from './running-command.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { createTreeOwner } from './tree-owner.ts';
import { mendTree } from './tree.ts';
import { watchCommand } from './watch.ts';

export interface Sandbox {
  /**
   * Runs a shell command with a tree as its working directory. When it answers, or throws because the signal aborted, every process of
   * the command has ended. Throws SandboxError when the command could not be begun.
   */
  run(call: SandboxCall): Promise<CommandEnd>;
}

export interface SandboxOptions {
  machine: Machine;
  limits: SandboxLimits;
  /** Null: commands have no network but their own loopback. */
  network: SandboxNetwork | null;
  /** Holds what bubblewrap reads and what commands say; no other process may have the same. */
  directory: string;
}

/** Makes the sandbox of a machine that was looked at. */
export async function createSandbox({ machine, limits, network, directory }: SandboxOptions): Promise<Sandbox> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const inputs: string[] = [];
  const contents = [['filter.bpf', seccompFilter(machine.architecture)] as const, ...Object.entries(madeFiles)];
  for (const [name, content] of contents) {
    const path = join(directory, basename(name));
    await writeFile(path, content, { mode: 0o600 });
    inputs.push(path);
  }
  const pipes = createOutputPipes(directory);
  const owner = createTreeOwner();
  const inherited = await inheritedDescriptors(filterFd + inputs.length - 1);

  async function start(call: ProfileCall, { writer, stream }: OutputPipe): Promise<RunningCommand> {
    await using files = new AsyncDisposableStack();
    files.use(writer);
    // small files: a turn through the thread pool for each would take longer than opening them
    const opened = (path: string, flags: string) => files.adopt(openSync(path, flags), closeSync);
    const nothing = opened('/dev/null', 'r+');
    const stdio: (number | 'ignore' | 'pipe' | 'ipc')[] = ['ignore', writer.fd, 'pipe', 'pipe'];
    for (const path of inputs) stdio.push(opened(path, 'r'));
    for (const descriptor of inherited) stdio[descriptor] = nothing;
    if (network !== null) stdio[channelFd] = 'ipc';
    if (machine.root !== null) stdio[stageFd] = 'pipe';
    const { file, args } = sandboxCommand(machine, limits, { ...call, isOnline: network !== null });
    const child = spawn(file, args, {
      cwd: '/',
      env: {},
      stdio: Array.from(stdio, (at) => at ?? 'ignore'),
      detached: true,
    });
    if (child.pid === undefined) {
      const [error] = await once(child, 'error');
      throw new SandboxError('bubblewrap could not be started.', { cause: error });
    }
    // before anything is waited for: the end of a short command would be missed
    return new RunningCommand({ child, stream, network });
  }

  return {
    async run(call) {
      call.signal.throwIfAborted();
      const { tree } = call;
      const { root } = machine;
      if (root !== null) owner.give(tree, uidOf(root.uids, call.jobId));
      const pipe = await pipes.take();
      using _pipe = { [Symbol.dispose]: () => void pipe.stream.destroy() };
      const command = await start(call, pipe);
      using _watch = watchCommand({
        tree,
        limits,
        firstPid: () => command.firstPid,
        onExcess: (excess) => command.stop(excess),
      });
      const end = await command.end(call);
      if (root === null) await mendTree(tree);
      call.signal.throwIfAborted();
      return end;
    },
  };
}
