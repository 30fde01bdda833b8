import type { z } from 'zod';
import type { CommandEnd } from '../sandbox/running-command.ts';

export interface ToolContext {
  /** Absolute path of the tree; no tool reaches outside it. */
  root: string;
  signal: AbortSignal;
  /** The call that the tool runs for, as the model named it. */
  toolCallId?: string;
  /** Runs a shell command in the tree for at most so long. Null: the time for commands is used up. Absent: there is no sandbox. */
  runCommand?(command: string, timeoutMs: number): Promise<CommandEnd | null>;
}

export interface ToolOutput {
  /** What the model reads; at most 50 KB. */
  text: string;
  isError: boolean;
}

/** One tool of the agent. Errors a model can act on are outputs; everything else is thrown. */
export interface AgentTool {
  description: string;
  inputSchema: z.ZodType;
  /** A read-only tool may run beside others; the rest run one after another in the order of the calls. */
  isReadOnly: boolean;
  run(input: unknown, context: ToolContext): Promise<ToolOutput>;
}

/** Tools by name: read, write, edit, multi_edit, delete, move, list, glob, grep, todo, finish, and run where there is a sandbox. */
export type Toolset = Record<string, AgentTool>;
