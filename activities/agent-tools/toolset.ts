import type { z } from 'zod';

export interface TodoItem {
  text: string;
  done: boolean;
}

/** The call that ends a turn. */
export interface FinishCall {
  title: string;
  summary: string;
}

export interface ToolContext {
  /** Absolute path of the tree; no tool reaches outside it. */
  root: string;
  signal: AbortSignal;
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

/** Tools by name: read, write, edit, multi_edit, delete, move, list, glob, grep, todo, finish. */
export type Toolset = Record<string, AgentTool>;

export declare function createToolset(): Toolset;

/** The todo list as the last successful `todo` call of a transcript left it, and the `finish` call of a batch. */
export declare function finishCallOf(calls: { toolName: string; input: unknown }[]): FinishCall | null;
