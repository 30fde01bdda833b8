import { createEgress } from '../../../lib/network/egress.ts';
import type { EngineName } from '../../../activities/sandbox/engine.ts';
import { openSandbox } from '../../../activities/sandbox/open-sandbox.ts';
import type { CommandEnvironment, SandboxLimits } from '../../../activities/sandbox/command-environment.ts';

interface Hosts {
  hosts: string[];
  privateHosts: readonly string[];
}

/** A request to the process of another account: first to open its sandbox, then to run commands in it. */
export type AccountRequest =
  | {
      kind: 'open';
      directory: string;
      limits: SandboxLimits;
      engine: EngineName;
      network: Hosts | undefined;
      authorities: string | null;
    }
  | {
      kind: 'run';
      id: number;
      jobId: string;
      tree: string;
      command: string;
      timeoutMs: number;
      environment?: Partial<CommandEnvironment>;
    }
  | { kind: 'abort'; id: number };

// Runs under the account that the tests choose.
const running = new Map<number, AbortController>();
let opened: Awaited<ReturnType<typeof openSandbox>> | null = null;

async function answerTo(request: AccountRequest): Promise<object | null> {
  if (request.kind === 'open') {
    const { directory, limits, engine, network: wanted, authorities } = request;
    const network = wanted === undefined ? null : { hosts: wanted.hosts, egress: createEgress(wanted) };
    opened = await openSandbox({ directory, limits, engine, network, authorities });
    return { kind: 'opened', problem: opened.problem };
  }
  if (request.kind === 'abort') {
    running.get(request.id)?.abort(new Error('aborted by the test'));
    return null;
  }
  const { id } = request;
  const controller = new AbortController();
  running.set(id, controller);
  try {
    const end = await opened!.sandbox!.run({ ...request, signal: controller.signal });
    return { kind: 'ended', id, end };
  } catch (error) {
    return { kind: 'failed', id, message: String(error) };
  } finally {
    running.delete(id);
  }
}

process.on('message', (request: AccountRequest) => {
  void answerTo(request).then((answer) => answer !== null && process.send!(answer));
});
process.on('disconnect', () => process.exit(0));
