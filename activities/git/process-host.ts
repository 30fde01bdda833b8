import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { signalGroup, type ProcessCall, type ProcessOutcome } from './git-process.ts';
import { joinChunks } from './join-chunks.ts';
import { forkHost, hold, sendTo } from './host-channel.ts';
import { chunksOf, type HostAnswer, type HostRequest } from './process-messages.ts';

/** The host process has ended, and with it every process that it started. */
export class ProcessHostError extends Error {
  override name = 'ProcessHostError';
}

interface Running {
  /** Id of the process and of its group; null until the host reports its start. */
  pid: number | null;
  output: Uint8Array[];
  resolve(outcome: Omit<ProcessOutcome, 'stdout'>): void;
  reject(error: Error): void;
}

const program = join(import.meta.dirname, 'process-host-main.ts');

/** Starts processes from a small host process, which is itself started on first use. */
export type ProcessHost = ReturnType<typeof createProcessHost>;

/**
 * Forking blocks a process until its page tables are copied: 1 ms of CPU for a process of 50 MB, but 7 ms for a worker
 * of 370 MB, for each git command of a step.
 */
export function createProcessHost() {
  const running = new Map<number, Running>();
  let host: ChildProcess | null = null;
  let lastId = 0;

  function start(): ChildProcess {
    const child = forkHost(program);
    child.on('message', receive);
    const onEnd = () => {
      if (host !== child) return;
      host = null;
      for (const { pid, reject } of running.values()) {
        // nothing could read their output or stop them any more
        if (pid !== null) signalGroup(pid, 'SIGKILL');
        reject(new ProcessHostError('The process host has exited.'));
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
    if (answer.type === 'end') call.resolve(answer.outcome);
  }

  async function feed(child: ChildProcess, id: number, input: ProcessCall['stdin']): Promise<void> {
    if (input === null) return;
    const bytes = typeof input === 'string' ? Buffer.from(input) : input;
    for (const part of chunksOf(bytes)) await send(child, { type: 'input', id, ...part });
  }

  /** Like `runProcess`, but may also throw ProcessHostError. The next call then starts a new host. */
  async function run({ stdin, signal, ...call }: ProcessCall): Promise<ProcessOutcome> {
    const child = (host ??= start());
    lastId += 1;
    const id = lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Omit<ProcessOutcome, 'stdout'>>();
    const output: Uint8Array[] = [];
    running.set(id, { pid: null, output, resolve, reject });
    hold(child, true);
    const onAbort = () => void send(child, { type: 'stop', id }).catch(reject);
    try {
      void send(child, { type: 'run', id, call, hasInput: stdin !== null }).catch(reject);
      void feed(child, id, stdin).catch(reject);
      signal.addEventListener('abort', onAbort, { once: true });
      if (signal.aborted) onAbort();
      return { ...(await promise), stdout: await joinChunks(output) };
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
