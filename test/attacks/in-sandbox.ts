import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeEnd } from '../../activities/agent-tools/run-tool.ts';
import { openSandbox, type OpenedSandbox } from '../../activities/clients/sandbox/open-sandbox.ts';
import type { Scene } from './scene.ts';

const limits = { memoryBytes: 256 * 2 ** 20, processes: 64, diskBytes: 64 * 2 ** 20 };
const directory = await mkdtemp(join(tmpdir(), 'docket-attack-sandbox-'));
const opened: OpenedSandbox = await openSandbox({ directory, limits });

/** Why commands cannot be attacked with here; null: they can. */
export const sandboxProblem: string | null = opened.problem;

export async function closeSandbox(): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

/** Runs a command as the agent's tool does; `text` is what the model would read. */
export async function inSandbox(
  { tree }: Scene,
  command: string,
  { timeoutMs = 20_000 } = {},
): Promise<{ exitCode: number | null; text: string }> {
  if (opened.sandbox === null) throw new Error(opened.problem);
  const signal = AbortSignal.timeout(60_000);
  const end = await opened.sandbox.run({ jobId: 'attack', tree, command, timeoutMs, signal });
  return { exitCode: end.exitCode, text: describeEnd(end) };
}
