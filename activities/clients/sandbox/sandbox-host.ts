import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { HostedOptions, SandboxAnswer, SandboxRequest } from './host-messages.ts';
import { SandboxError, type CommandEnd, type SandboxCall } from './running-command.ts';
import type { Sandbox } from './sandbox.ts';

/** The sandbox of this machine in a process of its own, or why there is none, in a sentence that says what to do about it. */
export type HostedSandbox = ({ sandbox: Sandbox; problem: null } | { sandbox: null; problem: string }) & Disposable;

interface Waiting {
  resolve(end: CommandEnd): void;
  reject(error: Error): void;
}

const program = join(import.meta.dirname, 'sandbox-host-main.ts');
const ended = 'The process that runs commands has ended.';

/**
 * Opens the sandbox in a small process, which has nothing of the worker but the PATH: starting a command halts whoever starts it
 * until its page tables are copied, and what answers for the network of commands should know no secret. When that process is gone,
 * so are its commands, whose calls throw SandboxError; the next call begins another one.
 */
export async function openSandboxHost(options: HostedOptions): Promise<HostedSandbox> {
  const waiting = new Map<number, Waiting>();
  let lastId = 0;
  let isOver = false;
  let host: Promise<ChildProcess> | null = null;

  function begin(onOpened: (problem: string | null) => void): Promise<ChildProcess> {
    const child = fork(program, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { PATH: process.env['PATH'] },
      execArgv: [],
    });
    return new Promise((resolve, reject) => {
      const onEnd = () => {
        reject(new SandboxError(ended));
        host = null;
        for (const { reject: fail } of waiting.values()) fail(new SandboxError(ended));
      };
      child.on('error', onEnd).on('exit', onEnd);
      child.on('message', (answer: SandboxAnswer) => {
        if (answer.type !== 'opened') return settle(answer);
        hold(child, waiting.size > 0);
        onOpened(answer.problem);
        resolve(child);
      });
      void send(child, { type: 'open', options }).catch(reject);
    });
  }

  function settle(answer: Exclude<SandboxAnswer, { type: 'opened' }>): void {
    const call = waiting.get(answer.id);
    if (answer.type === 'failed') return call?.reject(new SandboxError(answer.message));
    const { head, tail, omitted } = answer.end.output;
    call?.resolve({ ...answer.end, output: { head: Buffer.from(head), tail: Buffer.from(tail), omitted } });
  }

  async function again(): Promise<ChildProcess> {
    if (isOver) throw new SandboxError(ended);
    let found: string | null = null;
    const child = await begin((problem) => (found = problem));
    if (found === null) return child;
    child.disconnect();
    throw new SandboxError(found);
  }

  async function run({ signal, ...call }: SandboxCall): Promise<CommandEnd> {
    signal.throwIfAborted();
    const child = await (host ??= again());
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<CommandEnd>();
    waiting.set(id, { resolve, reject });
    hold(child, true);
    const onAbort = () => void send(child, { type: 'stop', id }).catch(reject);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      void send(child, { type: 'run', id, call }).catch(reject);
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

  function end(child: ChildProcess): void {
    isOver = true;
    if (child.connected) child.disconnect();
  }

  let problem: string | null = null;
  const first = await begin((found) => (problem = found));
  host = Promise.resolve(first);
  if (problem !== null) {
    end(first);
    return { sandbox: null, problem, [Symbol.dispose]: () => undefined };
  }
  return {
    sandbox: { run },
    problem: null,
    [Symbol.dispose]() {
      isOver = true;
      void host?.then(end, () => undefined);
    },
  };
}

function send(child: ChildProcess, request: SandboxRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    child.send(request, (error) => (error === null ? resolve() : reject(new SandboxError(ended, { cause: error }))));
  });
}

/** An idle host does not keep its worker from ending. */
function hold(child: ChildProcess, isNeeded: boolean): void {
  if (isNeeded) {
    child.ref();
    child.channel?.ref();
  } else {
    child.unref();
    child.channel?.unref();
  }
}
