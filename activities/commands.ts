import type { ToolContext } from './agent-tools/toolset.ts';
import type { OpenedSandbox } from './clients/sandbox/open-sandbox.ts';
import type { Sandbox } from './clients/sandbox/sandbox.ts';

/** Whether this worker runs commands: in its sandbox, or not, for a reason; null: nobody wants it to. */
export type Commands = (OpenedSandbox & { maxSeconds: number }) | null;

/** The commands of one batch take no longer together: a batch has to end within the time of its activity. */
const batchMs = 8 * 60_000;
/** A command that gets less is not begun. */
const leastMs = 1_000;

export interface CommandPlace {
  jobId: string;
  tree: string;
  signal: AbortSignal;
}

/** Makes what runs the commands of a batch, one after another. */
export function createCommandRunner(sandbox: Sandbox, place: CommandPlace): NonNullable<ToolContext['runCommand']> {
  const endAt = Date.now() + batchMs;
  return async (command, timeoutMs) => {
    const leftMs = endAt - Date.now();
    if (leftMs < leastMs) return null;
    return sandbox.run({ ...place, command, timeoutMs: Math.min(timeoutMs, leftMs) });
  };
}
