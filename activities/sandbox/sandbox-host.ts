import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { forkHost, hold, sendTo } from '../git/host-channel.ts';
import type { HostedOptions, SandboxAnswer, SandboxRequest } from './host-messages.ts';
import type { OpenedSandbox } from './open-sandbox.ts';
import type { CommandEnd, SandboxCall } from './running-command.ts';
import { SandboxError, WorkerDiskFullError } from './sandbox-error.ts';

/**
 * The sandbox of this machine in a separate process, or a sentence that explains why there is none and what to do about
 * it. Disposal waits for that process, which may create files in its folder until it has exited.
 */
export type HostedSandbox = OpenedSandbox & AsyncDisposable;

type Opened = Extract<SandboxAnswer, { type: 'opened' }>;

interface Host {
  child: ChildProcess;
  opened: Opened;
}

interface Waiting {
  onOutput: SandboxCall['onOutput'];
  resolve(end: CommandEnd): void;
  reject(error: Error): void;
}

const program = join(import.meta.dirname, 'sandbox-host-main.ts');
const ended = 'The process that runs commands has exited.';

/**
 * Opens the sandbox in a small process without the worker's environment. Starting a command blocks its parent
 * until the parent's page tables are copied, and the process that serves the network of commands should not hold any
 * secrets. When that process exits, so do its commands, whose calls throw SandboxError; the next call starts a new
 * process.
 */
export async function openSandboxHost(options: HostedOptions): Promise<HostedSandbox> {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let isOver = false;
  let host: Promise<Host> | null = null;

  /** Starts a host process. Throws SandboxError. */
  function begin(): Promise<Host> {
    const child = forkHost(program);
    let isGone = false;
    return new Promise((resolve, reject) => {
      // an error may be followed by the exit event, after another host has started
      const onEnd = () => {
        if (isGone) return;
        isGone = true;
        reject(new SandboxError(ended));
        host = null;
        for (const { reject: fail } of waiting.values()) fail(new SandboxError(ended));
      };
      child.on('error', onEnd).on('exit', onEnd);
      child.on('message', (answer: SandboxAnswer) => {
        if (answer.type !== 'opened') return settle(answer);
        hold(child, waiting.size > 0);
        resolve({ child, opened: answer });
      });
      void send(child, { type: 'open', options }).catch(reject);
    });
  }

  function settle(answer: Exclude<SandboxAnswer, Opened>): void {
    const call = waiting.get(answer.id);
    if (answer.type === 'printed') return call?.onOutput?.(answer.sample);
    if (answer.type === 'failed')
      return call?.reject(
        answer.isDiskFull ? new WorkerDiskFullError(answer.message) : new SandboxError(answer.message),
      );
    const { head, tail, omitted } = answer.end.output;
    call?.resolve({ ...answer.end, output: { head: Buffer.from(head), tail: Buffer.from(tail), omitted } });
  }

  async function again(): Promise<Host> {
    if (isOver) throw new SandboxError(ended);
    const { child, opened } = await begin();
    if (opened.problem === null) return { child, opened };
    await end(child);
    throw new SandboxError(opened.problem);
  }

  async function run({ signal, onOutput, ...call }: SandboxCall): Promise<CommandEnd> {
    signal.throwIfAborted();
    const { child } = await (host ??= again());
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>();
    waiting.set(id, { resolve, reject, onOutput });
    hold(child, true);
    const onAbort = () => void send(child, { type: 'stop', id }).catch(reject);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      void send(child, { type: 'run', id, call, isWatched: onOutput !== undefined }).catch(reject);
      if (signal.aborted) onAbort();
      return await promise;
    } catch (error) {
      signal.throwIfAborted();
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
      waiting.delete(id);
      hold(child, waiting.size > 0);
    }
  }

  try {
    const first = await begin();
    host = Promise.resolve(first);
    const { problem, kind, limitsMemory } = first.opened;
    if (problem !== null) {
      await end(first.child);
      return { sandbox: null, problem, async [Symbol.asyncDispose]() {} };
    }
    return {
      sandbox: { run, kind, limitsMemory },
      problem: null,
      async [Symbol.asyncDispose]() {
        isOver = true;
        const last = await host?.catch(() => null);
        if (last) await end(last.child);
      },
    };
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    const problem = "Commands cannot run here: the process that runs them did not start. The worker's log says why.";
    return { sandbox: null, problem, async [Symbol.asyncDispose]() {} };
  }
}

/** Resolves when the host and its commands have ended. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  // an idle host does not keep this process alive
  child.ref();
  if (child.connected) child.disconnect();
  await exited;
}

async function send(child: ChildProcess, request: SandboxRequest): Promise<void> {
  try {
    await sendTo(child, request);
  } catch (error) {
    throw new SandboxError(ended, { cause: error });
  }
}
