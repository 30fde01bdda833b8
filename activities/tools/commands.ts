import type { ToolContext } from './agent-tool.ts';
import type { OpenedSandbox } from '../sandbox/open-sandbox.ts';
import type { CommandEnd } from '../sandbox/running-command.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import type { ToolResult } from '../../db/for-worker/steps.ts';

/** Whether this worker runs commands: in its sandbox, or not, for a reason; null: nobody wants it to. */
export type Commands = (OpenedSandbox & { maxSeconds: number; hosts?: readonly string[] }) | null;

/** The commands of one batch take no longer together: a batch has to end within the time of its activity. */
const batchMs = 8 * 60_000;
/** A command that gets less is not begun. */
const leastMs = 1_000;

export interface CommandContext {
  jobId: string;
  tree: string;
  signal: AbortSignal;
}

export interface CommandRunner {
  /** Absent where this worker runs none. */
  runCommand: ToolContext['runCommand'];
  /** Whether a command has written more than it may: what is in the tree then is not worth keeping. */
  hasFilledDisk(): boolean;
}

/** Makes what runs the commands of a batch, one after another. */
export function createCommandRunner(sandbox: Sandbox | null, context: CommandContext): CommandRunner {
  const endAt = Date.now() + batchMs;
  let hasFilledDisk = false;
  async function runCommand(command: string, timeoutMs: number): Promise<CommandEnd | null> {
    const leftMs = endAt - Date.now();
    if (sandbox === null || leftMs < leastMs) return null;
    const end = await sandbox.run({ ...context, command, timeoutMs: Math.min(timeoutMs, leftMs) });
    hasFilledDisk ||= end.stopped === 'disk';
    return end;
  }
  return { runCommand: sandbox === null ? undefined : runCommand, hasFilledDisk: () => hasFilledDisk };
}

/** The results of a batch whose changes were taken back. */
export function takenBack(results: ToolResult[], isReadOnly: (toolName: string) => boolean): ToolResult[] {
  const note =
    'Undone: a command of this answer exceeded its disk limit, so the changes of all its calls were discarded.';
  return results.map((result) => {
    if (isReadOnly(result.toolName) && result.toolName !== 'finish') return result;
    return { ...result, output: `${result.output}\n[${note}]`, isError: true };
  });
}
