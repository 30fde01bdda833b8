import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Readable } from 'node:stream';
import { capture, type Captured } from './capture.ts';
import type { Machine } from './machine.ts';
import { createOutputPipes, inheritedDescriptors, type OutputPipe } from './pipes.ts';
import { isAlive } from './processes.ts';
import { filterFd, madeFiles, sandboxCommand, uidOf, type ProfileCall, type SandboxLimits } from './profile.ts';
import { seccompFilter } from './seccomp-filter.ts';
import { giveTree, mendTree } from './tree.ts';
import { watchCommand, type Excess } from './watch.ts';

export interface SandboxCall extends ProfileCall {
  signal: AbortSignal;
}

/** How a command ended. `output` is what it said on both of its outputs. */
export interface CommandEnd {
  /** Null when it was stopped. */
  exitCode: number | null;
  /** Why it was stopped; null when it ended by itself. */
  stopped: Excess | 'timeout' | 'output' | null;
  output: Captured;
  durationMs: number;
}

export interface Sandbox {
  /**
   * Runs a shell command with a tree as its working directory. When it answers, or throws because the signal aborted, every process of
   * the command has ended. Throws SandboxError when the command could not be begun.
   */
  run(call: SandboxCall): Promise<CommandEnd>;
}

/** The sandbox did not come up; the command was not begun. */
export class SandboxError extends Error {
  override name = 'SandboxError';
}

export interface SandboxOptions {
  machine: Machine;
  limits: SandboxLimits;
  /** Holds what bubblewrap reads and what commands say; no other process may have the same. */
  directory: string;
}

const keepBytes = 256 * 1024;
const outputBytes = 64 * 1024 * 1024;
/** Commands stand back behind the worker; what brings them up does not. */
const niceness = 10;
const endMs = 5_000;
const bringUpMs = 300;

/** Makes the sandbox of a machine that was looked at. */
export async function createSandbox({ machine, limits, directory }: SandboxOptions): Promise<Sandbox> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const inputs: string[] = [];
  const contents = [['filter.bpf', seccompFilter(machine.architecture)] as const, ...Object.entries(madeFiles)];
  for (const [name, content] of contents) {
    const path = join(directory, basename(name));
    await writeFile(path, content, { mode: 0o600 });
    inputs.push(path);
  }
  const pipes = createOutputPipes(directory);
  const inherited = await inheritedDescriptors(filterFd + inputs.length - 1);

  async function start(call: ProfileCall, { writer, stream }: OutputPipe): Promise<RunningCommand> {
    await using files = new AsyncDisposableStack();
    files.use(writer);
    // small files: a turn through the thread pool for each would take longer than opening them
    const opened = (path: string, flags: string) => files.adopt(openSync(path, flags), closeSync);
    const nothing = opened('/dev/null', 'r+');
    const stdio: (number | 'ignore' | 'pipe')[] = ['ignore', writer.fd, 'pipe', 'pipe'];
    for (const path of inputs) stdio.push(opened(path, 'r'));
    for (const descriptor of inherited) stdio[descriptor] = nothing;
    const { file, args } = sandboxCommand(machine, limits, call);
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
    return new RunningCommand(child, stream);
  }

  return {
    async run(call) {
      call.signal.throwIfAborted();
      const { tree } = call;
      const { root } = machine;
      if (root !== null) await giveTree(tree, uidOf(root.uids, call.jobId));
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

class RunningCommand {
  /** The first process of the sandbox's own process namespace: with it, all others end. */
  firstPid: number | null = null;
  readonly #child: ChildProcess;
  readonly #beganAt = performance.now();
  readonly #stream: Readable;
  readonly #closed: Promise<unknown>;
  readonly #output: () => Captured;
  readonly #problem: () => Captured;
  #stopped: CommandEnd['stopped'] | 'aborted' = null;
  #exitCode: number | null = null;

  constructor(child: ChildProcess, stream: Readable) {
    this.#child = child;
    this.#stream = stream;
    this.#closed = Promise.all([once(child, 'close'), once(stream, 'close')]);
    // it is looked at in the end
    this.#closed.catch(() => undefined);
    const [, , , status] = child.stdio;
    const onOverflow = () => this.stop('output');
    this.#output = capture(stream, { keepBytes, limitBytes: outputBytes, onOverflow });
    this.#problem = capture(readable(child.stderr), { keepBytes: 4_096, limitBytes: outputBytes, onOverflow });
    this.#readStatus(readable(status));
  }

  stop(reason: CommandEnd['stopped'] | 'aborted'): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    // bubblewrap leaves its child behind when it dies while it brings it up: it has a moment to say which one that is
    if (this.firstPid !== null) this.#kill();
    else setTimeout(() => this.#kill(), bringUpMs).unref();
    setTimeout(() => this.#letGo(), endMs).unref();
  }

  async end({ signal, timeoutMs }: SandboxCall): Promise<CommandEnd> {
    const timer = setTimeout(() => this.stop('timeout'), timeoutMs);
    const onAbort = () => this.stop('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      await this.#closed;
      await this.#untilGone();
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
    const durationMs = performance.now() - this.#beganAt;
    const stopped = this.#stopped === 'aborted' ? null : this.#stopped;
    if (this.#stopped === null && this.#exitCode === null) {
      throw new SandboxError(`The sandbox did not come up: ${this.#problem().head.toString('utf8').slice(0, 500)}`);
    }
    return { exitCode: stopped === null ? this.#exitCode : null, stopped, output: this.#output(), durationMs };
  }

  #readStatus(stream: Readable): void {
    let text = '';
    stream.on('error', () => undefined);
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const isNew = this.firstPid === null;
      this.firstPid = numberIn(text, 'child-pid');
      if (isNew && this.firstPid !== null) lowerPriority(this.firstPid);
      this.#exitCode = numberIn(text, 'exit-code');
      // it may have come up after it was told to stop
      if (this.#stopped !== null) this.#kill();
    });
  }

  #kill(): void {
    const { pid, exitCode, signalCode } = this.#child;
    if (this.firstPid !== null) signalTo(this.firstPid);
    if (pid !== undefined && exitCode === null && signalCode === null) signalTo(-pid);
  }

  /** Whatever still holds an output of a command that was stopped is no longer listened to. */
  #letGo(): void {
    for (const stream of [this.#stream, ...this.#child.stdio]) stream?.destroy();
  }

  /** The outputs close when nobody holds them; a process that holds none of them may be a moment behind. */
  async #untilGone(): Promise<void> {
    const { firstPid } = this;
    if (firstPid === null) return;
    const giveUpAt = performance.now() + endMs;
    while (await isAlive(firstPid)) {
      if (performance.now() > giveUpAt) throw new SandboxError('The processes of a command did not end.');
      await sleep(1);
    }
  }
}

function readable(stream: unknown): Readable {
  if (stream instanceof Readable) return stream;
  throw new SandboxError('bubblewrap has no output.');
}

function numberIn(text: string, name: string): number | null {
  const found = new RegExp(`"${name}": (\\d+)`).exec(text)?.[1];
  return found === undefined ? null : Number(found);
}

function signalTo(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended by itself
  }
}

function lowerPriority(pid: number): void {
  try {
    setPriority(pid, Math.max(niceness, constants.priority.PRIORITY_NORMAL));
  } catch {
    // it has ended already
  }
}
