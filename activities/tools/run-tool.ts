import { z } from 'zod';
import type { CommandEnd } from '../sandbox/running-command.ts';
import { cleanOutput, headAndTail, headOf, tailOf } from './clean-output.ts';
import { defineTool } from './define-tool.ts';
import { namesText } from './files/walk-tree.ts';
import { ToolProblem } from './tool-problem.ts';
import { startLog } from './started-command.ts';
import type { AgentTool } from './agent-tool.ts';

/** A command's output is truncated to its beginning and end, within the limit of one call. */
const shown = { headLength: 14_000, tailLength: 28_000 };

export interface RunToolOptions {
  maxSeconds: number;
  /** Hosts that commands reach through the sandbox's proxy; none by default. */
  hosts?: readonly string[];
  /** Whether a script runs before each command. */
  hasStart?: boolean;
}

/** Longest time limit of a command: that of all commands of a batch. */
const maxBatchSeconds = 480;

const inputOf = (maxSeconds: number) =>
  z.object({
    command: z
      .string()
      .min(1)
      .max(20_000)
      .refine((text) => text.isWellFormed() && !text.includes('\0'), 'contains a NUL or an unpaired surrogate')
      .describe('One or more lines of shell'),
    seconds: z.int().min(1).max(maxSeconds).default(maxSeconds).describe('How long it may run'),
  });

/** Returns the tool as a model sees it, with the limits of its job. */
export function describeRun({
  maxSeconds,
  hosts = [],
  hasStart = false,
}: RunToolOptions): Pick<AgentTool, 'description' | 'inputSchema'> {
  const network =
    hosts.length === 0
      ? 'There is no network, no .git and no terminal; '
      : `By HTTP and HTTPS, through the proxy that the environment names, ${hosts.join(', ')} can be reached and ` +
        'nothing else. There is no .git and no terminal; ';
  const start = hasStart
    ? ` Before each command, the project's start script runs, for services; their output is in ${startLog}.`
    : '';
  return {
    description:
      'Runs a shell command at the root of the repository and returns its output and exit code: tests, builds, ' +
      `linters, scripts. ${network}` +
      'only the repository, HOME and /tmp can be written, and /tmp ' +
      'is empty at each call. Ignored files may be gone at the next call. Processes end with the command.' +
      start,
    inputSchema: inputOf(maxSeconds),
  };
}

/** Creates the tool that runs a shell command in the sandbox. */
export function createRunTool(options: RunToolOptions): AgentTool {
  const { description, inputSchema } = describeRun(options);
  const tool = defineTool({
    description,
    inputSchema: inputOf(maxBatchSeconds),
    isReadOnly: false,
    async run({ command, seconds }, { runCommand, newPaths, maskSecrets, toolCallId = null }) {
      const end = (await runCommand?.({ command, timeoutMs: seconds * 1_000, toolCallId })) ?? null;
      if (end === null) throw new ToolProblem('The commands of this answer have used up their time. Call it again.');
      const text = describeEnd(end, maskSecrets) + newFilesNote([...((await newPaths?.()) ?? [])]);
      if (end.exitCode === 0) return text;
      throw new ToolProblem(text);
    },
  });
  // a job may have more time than this worker's other jobs
  return { ...tool, inputSchema };
}

/** Lists the new files of a command for the agent, because all of them would be published. */
function newFilesNote(paths: readonly string[]): string {
  if (paths.length === 0) return '';
  return `\n[New files of this answer: ${namesText(paths)}. Delete what does not belong to the change.]`;
}

/** Returns how a command ended, with its output, masked before it is cut. */
export function describeEnd(
  { exitCode, stopped, output, notes, durationMs }: CommandEnd,
  maskSecrets: (text: string) => string = String,
): string {
  const seconds = (durationMs / 1_000).toFixed(1);
  // omits the duration of a command that exited, so that equal results have equal texts
  const ending = exitCode === null ? `${stops[stopped ?? 'timeout']} after ${seconds} s` : exitOf(exitCode);
  const shown = shownOutput(output, (bytes) => maskSecrets(cleanOutput(bytes)));
  return [`[${ending}]`, shown === '' ? '(no output)' : shown, ...notes.map((note) => `[${note}]`)].join('\n');
}

function shownOutput({ head, tail, omitted }: CommandEnd['output'], textOf: (output: Buffer) => string): string {
  if (omitted === 0) return headAndTail(textOf(Buffer.concat([head, tail])), shown).trimEnd();
  const begin = headOf(textOf(head), shown.headLength).trimEnd();
  const end = tailOf(textOf(tail), shown.tailLength);
  return `${begin}\n[… the middle of ${head.length + tail.length + omitted} bytes omitted …]\n${end}`.trimEnd();
}

const stops: Record<NonNullable<CommandEnd['stopped']>, string> = {
  timeout: 'Stopped: time limit exceeded,',
  memory: 'Stopped: memory limit exceeded,',
  disk: 'Stopped: disk limit exceeded,',
  output: 'Stopped: output limit exceeded,',
};

/** A shell reports a signal as a code above 128. */
function exitOf(code: number): string {
  if (code === 0) return 'exit code 0';
  return code > 128 && code < 128 + 65 ? `exit code ${code} (signal ${code - 128})` : `exit code ${code}`;
}
