import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { describeEnd } from '../../../../activities/tools/run-tool.ts';
import { openJobDisks, removeJobFolder } from '../../../../activities/workspaces/job-disks.ts';
import type { CommandEnvironment, SandboxLimits } from '../../../../activities/sandbox/command-environment.ts';
import { openSandbox, type OpenedSandbox } from '../../../../activities/sandbox/open-sandbox.ts';
import type { SandboxNetwork } from '../../../../activities/sandbox/network.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';
import type { Scene } from './scene.ts';
import { testEngine } from '../../../support/sandbox/engine.ts';

export const attackLimits: SandboxLimits = { memoryBytes: 256 * 2 ** 20, processes: 64, diskBytes: 16 * 2 ** 20 };
/** A job of this process: as root, a container counts the processes of its job's user, whichever process started them. */
const jobId = `attack-${process.pid}`;
// the files of a process share the sandboxes
const directory = temporaryDirectory();
const opened: OpenedSandbox = await openSandbox({ directory, engine: testEngine, limits: attackLimits });

const online = temporaryDirectory();

const work = temporaryDirectory();
const disks = await openJobDisks(work, { growthBytes: attackLimits.diskBytes }).catch((error: Error) => error);

/** Why commands with job disks cannot be attacked here, or null. */
export const diskProblem: string | null = opened.problem ?? (disks instanceof Error ? disks.message : null);

/** Why commands cannot be attacked here, or null. */
export const sandboxProblem: string | null = opened.problem;

/** Runs a command as the agent's tool does; `text` is what the model would read. */
export async function inSandbox(
  { tree }: Scene,
  command: string,
  { timeoutMs = 20_000, environment }: { timeoutMs?: number; environment?: Partial<CommandEnvironment> } = {},
): Promise<{ exitCode: number | null; text: string }> {
  return await runIn(opened, { tree, command, timeoutMs, environment });
}

/** The same, with a working copy on its own disk. */
export async function onOwnDisk(command: string): Promise<{ text: string }> {
  if (disks instanceof Error) throw disks;
  const folder = await mkdtemp(join(work, 'job-'));
  const tree = join(folder, 'tree');
  try {
    await disks.provide({ tree, home: join(folder, 'home') }, { bytes: 0, files: 0 }, null);
    return await runIn(opened, { tree, command });
  } finally {
    await removeJobFolder(folder);
  }
}

/** The same, with access to a list of hosts. */
export async function inOnlineSandbox(
  { tree }: Scene,
  command: string,
  network: SandboxNetwork,
  environment: Partial<CommandEnvironment> = {},
): Promise<{ text: string }> {
  return await runIn(await openSandbox({ directory: online, engine: testEngine, limits: attackLimits, network }), {
    tree,
    command,
    environment,
  });
}

interface AttackRun {
  tree: string;
  command: string;
  timeoutMs?: number;
  environment?: Partial<CommandEnvironment> | undefined;
}

async function runIn(opened: OpenedSandbox, { timeoutMs = 20_000, environment = {}, ...run }: AttackRun) {
  if (opened.sandbox === null) throw new Error(opened.problem);
  const signal = AbortSignal.timeout(60_000);
  const end = await opened.sandbox.run({ jobId, ...run, timeoutMs, environment, signal });
  return { exitCode: end.exitCode, text: describeEnd(end) };
}
