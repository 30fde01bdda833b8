import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import type { MemoryGroup, MemoryGroups } from './memory-group.ts';
import { createOutputPipes, inheritedDescriptors, type PipeUse } from './pipes.ts';
import { statusFd, type PreparedCommand, type SandboxEngine } from './engine.ts';
import { channelFd, variablesFd } from './profile.ts';
import { SandboxError } from './sandbox-error.ts';

/** A process that waits for the command line that it will execute. */
export interface Launch {
  child: ChildProcess;
  /** Output of the command. */
  stream: Socket;
  /** Reports of the engine. */
  status: Socket;
  /** Reports of the outer of two sandboxes; null if there is only one. */
  stage: Socket | null;
  /** Null where the kernel cannot limit the memory of several processes together. */
  group: MemoryGroup | null;
  /** Starts a command. Its variables, as shell text, do not go through arguments, which every process can read. */
  become(command: Pick<PreparedCommand, 'script' | 'isWatched'>, variables: string): void;
}

export interface LauncherOptions {
  directory: string;
  engine: Pick<SandboxEngine, 'inputs' | 'stageFd'>;
  groups: MemoryGroups | null;
}

/**
 * Keeps one process ready for the next command, with its pipes and in its memory group. Moving a process into a group
 * waits for every CPU of the machine, which takes longer than the rest of a command's startup.
 */
export async function createLauncher({ directory, engine, groups }: LauncherOptions): Promise<{
  take(): Promise<Launch>;
}> {
  const pipes = createOutputPipes(directory);
  const { inputs, stageFd } = engine;
  const inherited = await inheritedDescriptors(statusFd + inputs.length);
  let spare: Promise<Launch> | null = null;

  /** Throws SandboxError. */
  async function prepare(): Promise<Launch> {
    await using files = new AsyncDisposableStack();
    const streams: Socket[] = [];
    const pipe = async (use: PipeUse) => {
      const { stream, writer } = await pipes.take(use);
      files.use(writer);
      streams.push(stream);
      return { stream, fd: writer.fd };
    };
    const output = await pipe('output');
    const status = await pipe('report');
    const stage = stageFd === null ? null : await pipe('report');
    // small files: a trip through the thread pool for each would take longer than opening them
    const opened = (path: string, flags: string) => files.adopt(openSync(path, flags), closeSync);
    const nothing = opened('/dev/null', 'r+');
    const stdio: (number | 'pipe' | 'ipc')[] = ['pipe', output.fd, 'pipe'];
    stdio[channelFd] = 'ipc';
    stdio[variablesFd] = 'pipe';
    stdio[statusFd] = status.fd;
    for (const path of inputs) stdio.push(opened(path, 'r'));
    for (const descriptor of inherited) stdio[descriptor] = nothing;
    if (stage !== null && stageFd !== null) stdio[stageFd] = stage.fd;
    const child = spawn('/bin/sh', ['-s'], {
      cwd: '/',
      env: {},
      stdio: Array.from(stdio, (at) => at ?? 'ignore'),
      detached: true,
    });
    try {
      if (child.pid === undefined) throw (await once(child, 'error'))[0];
      const group = (await groups?.take()) ?? null;
      await group?.add(child.pid);
      // makes the kernel kill it before the worker; if the worker is root, no command can undo that
      await writeFile(`/proc/${child.pid}/oom_score_adj`, '500').catch(() => undefined);
      const launch = { child, stream: output.stream, status: status.stream, stage: stage?.stream ?? null, group };
      holdOpen(launch, false);
      return {
        ...launch,
        become({ script, isWatched }, variables) {
          const pipe = child.stdio[variablesFd];
          if (pipe instanceof Socket) pipe.on('error', () => undefined).end(variables);
          if (isWatched) child.stdin?.write(script);
          else child.stdin?.end(script);
        },
      };
    } catch (cause) {
      for (const one of [...streams, ...child.stdio]) one?.destroy();
      throw new SandboxError('A process for a command could not be started.', { cause });
    }
  }

  function prepareSpare(): void {
    spare = prepare();
    // the failure is dropped, because the next command requests another process
    spare.catch(() => undefined);
  }

  return {
    async take() {
      const ready = spare;
      spare = null;
      const launch = (await ready?.catch(() => null)) ?? null;
      const isWaiting = launch !== null && launch.child.exitCode === null && launch.child.signalCode === null;
      if (!isWaiting) launch?.group?.release();
      const taken = isWaiting ? launch : await prepare();
      holdOpen(taken, true);
      setImmediate(() => spare ?? prepareSpare());
      return taken;
    },
  };
}

/** Sets whether a process and its streams keep the event loop alive; a process that waits for a command does not. */
function holdOpen({ child, stream, status, stage }: Omit<Launch, 'become'>, isNeeded: boolean): void {
  const held = [child, child.channel, stream, status, stage, ...child.stdio.filter((one) => one instanceof Socket)];
  for (const one of held) {
    if (isNeeded) one?.ref();
    else one?.unref();
  }
  child.stdin?.on('error', () => undefined);
}
