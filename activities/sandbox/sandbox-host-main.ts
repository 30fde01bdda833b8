import { createEgress } from '../../lib/network/egress.ts';
import type { HostedOptions, SandboxAnswer, SandboxRequest } from './host-messages.ts';
import { openSandbox } from './open-sandbox.ts';
import type { OutputSample } from './sample-output.ts';
import { WorkerDiskFullError } from './sandbox-error.ts';
import type { Sandbox } from './sandbox.ts';

// Process that runs commands for a worker. It ends with the worker, and so does everything it started.

const running = new Map<number, AbortController>();
let sandbox: Sandbox | null = null;

function answer(message: SandboxAnswer): void {
  if (process.connected) process.send?.(message, () => undefined);
}

async function open({ network, ...options }: HostedOptions): Promise<void> {
  const way = network && { hosts: network.hosts, egress: createEgress(network) };
  const opened = await openSandbox({ ...options, network: way });
  sandbox = opened.sandbox;
  const { kind = '', limitsMemory = false } = sandbox ?? {};
  answer({ type: 'opened', problem: opened.problem, kind, limitsMemory });
}

async function run({ id, call, isWatched }: Extract<SandboxRequest, { type: 'run' }>): Promise<void> {
  const stop = new AbortController();
  running.set(id, stop);
  try {
    if (sandbox === null) throw new Error('There is no sandbox.');
    const onOutput = (sample: OutputSample) => answer({ type: 'printed', id, sample });
    const end = await sandbox.run({ ...call, signal: stop.signal, onOutput: isWatched ? onOutput : undefined });
    answer({ type: 'ended', id, end });
  } catch (error) {
    const isDiskFull = error instanceof WorkerDiskFullError;
    answer({ type: 'failed', id, message: error instanceof Error ? error.message : String(error), isDiskFull });
  } finally {
    running.delete(id);
    endIfAlone();
  }
}

function endIfAlone(): void {
  if (!process.connected && running.size === 0) process.exit();
}

process.on('message', (request: SandboxRequest) => {
  if (request.type === 'open') void open(request.options);
  else if (request.type === 'run') void run(request);
  else running.get(request.id)?.abort();
});
process.on('disconnect', () => {
  for (const stop of running.values()) stop.abort();
  endIfAlone();
});
// ignored: the worker handles a signal to the process group, and ends its commands first
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
