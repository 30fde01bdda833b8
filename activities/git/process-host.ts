import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { signalGroup, type ProcessCall, type ProcessOutcome } from './git-process.ts';
import { forkHost, hold, sendTo } from './host-channel.ts';
import { chunksOf, type HostAnswer, type HostRequest } from './process-messages.ts';

/** Starts processes from a small process of its own, which begins with the first of them. */
export interface ProcessHost extends Disposable {
  /** As `runProcess`. Errors also: ProcessHostError; the next call begins a new host. */
  run(call: ProcessCall): Promise<ProcessOutcome>;
}

/** The process that starts others is gone, and with it what it had started. */
export class ProcessHostError extends Error {
  override name = 'ProcessHostError';
}

interface Running {
  /** Of the process and of its group; null until the host says that it runs. */
  pid: number | null;
  output: Uint8Array[];
  resolve(outcome: ProcessOutcome): void;
  reject(error: Error): void;
}

const program = join(import.meta.dirname, 'process-host-main.ts');

/**
 * Starting a process halts the one that starts it until its page tables are copied: that is 1 ms of CPU for a process of
 * 50 MB and 7 ms for a worker of 370 MB, for each of the git commands of a step.
 */
export function createProcessHost(): ProcessHost {
  const running = new Map<number, Running>();
  let host: ChildProcess | null = null;
  let lastId = 0;

  function start(): ChildProcess {
    const child = forkHost(program, {
      PATH: process.env['PATH'],
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    });
    child.on('message', receive);
    const onEnd = () => {
      if (host !== child) return;
      host = null;
      for (const { pid, reject } of running.values()) {
        // nobody is left who would read what they say or stop them
        if (pid !== null) signalGroup(pid, 'SIGKILL');
        reject(new ProcessHostError('The process that starts others has ended.'));
      }
    };
    child.on('error', onEnd);
    child.on('exit', onEnd);
    return child;
  }

  function receive(answer: HostAnswer): void {
    const call = running.get(answer.id);
    if (call === undefined) return;
    if (answer.type === 'failed') return call.reject(new Error(answer.message));
    if (answer.type === 'start') {
      call.pid = answer.pid;
      return;
    }
    call.output.push(answer.chunk);
    if (answer.type === 'end') call.resolve({ ...answer.outcome, stdout: Buffer.concat(call.output) });
  }

  async function feed(child: ChildProcess, id: number, input: ProcessCall['stdin']): Promise<void> {
    if (input === null) return;
    const bytes = typeof input === 'string' ? Buffer.from(input) : input;
    for (const part of chunksOf(bytes)) await send(child, { type: 'input', id, ...part });
  }

  async function run({ stdin, signal, ...call }: ProcessCall): Promise<ProcessOutcome> {
    const child = (host ??= start());
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<ProcessOutcome>();
    running.set(id, { pid: null, output: [], resolve, reject });
    hold(child, true);
    const onAbort = () => void send(child, { type: 'stop', id }).catch(reject);
    try {
      void send(child, { type: 'run', id, call, hasInput: stdin !== null }).catch(reject);
      void feed(child, id, stdin).catch(reject);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      return await promise;
    } finally {
      signal.removeEventListener('abort', onAbort);
      running.delete(id);
      hold(child, running.size > 0);
    }
  }

  return {
    run,
    [Symbol.dispose]() {
      if (host?.connected === true) host.disconnect();
    },
  };
}

function send(child: ChildProcess, request: HostRequest): Promise<void> {
  return sendTo(child, request);
}
