import type { z } from 'zod';
import type { CommandEnd } from '../clients/sandbox/sandbox.ts';
import { editTool, multiEditTool } from './edit-tools.ts';
import { globTool } from './glob-tool.ts';
import { grepTool } from './grep-tool.ts';
import { listTool } from './list-tool.ts';
import { deleteTool, moveTool } from './place-tools.ts';
import { readTool } from './read-tool.ts';
import { finishSchema, finishTool, todoSchema, todoTool } from './turn-tools.ts';
import { writeTool } from './write-tool.ts';

export { validateCall } from './run-batch.ts';

export interface TodoItem {
  text: string;
  done: boolean;
}

/** The call that ends a turn. */
export interface FinishCall {
  title: string;
  summary: string;
  /** How the agent made sure that its work is right. */
  checked?: string | undefined;
  /** False when the agent says that a part of the task is left to do. */
  complete?: boolean | undefined;
}

export interface ToolContext {
  /** Absolute path of the tree; no tool reaches outside it. */
  root: string;
  signal: AbortSignal;
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

export function createToolset({ run }: { run?: AgentTool } = {}): Toolset {
  return {
    read: readTool,
    write: writeTool,
    edit: editTool,
    multi_edit: multiEditTool,
    delete: deleteTool,
    move: moveTool,
    list: listTool,
    glob: globTool,
    grep: grepTool,
    ...(run === undefined ? {} : { run }),
    todo: todoTool,
    finish: finishTool,
  };
}

/** The tools that a project lets its agents use. */
export function allowedTools(toolset: Toolset, { mayRun }: { mayRun: boolean }): Toolset {
  return mayRun ? toolset : Object.fromEntries(Object.entries(toolset).filter(([name]) => name !== 'run'));
}

/** The first valid `finish` call of a batch. */
export function finishCallOf(calls: { toolName: string; input: unknown }[]): FinishCall | null {
  for (const { toolName, input } of calls) {
    if (toolName !== 'finish') continue;
    const parsed = finishSchema.safeParse(input);
    if (parsed.success) return parsed.data;
  }
  return null;
}

/** The todo list as the last valid `todo` call of a transcript left it. */
export function todoItemsOf(calls: { toolName: string; input: unknown }[]): TodoItem[] {
  for (const { toolName, input } of calls.toReversed()) {
    if (toolName !== 'todo') continue;
    const parsed = todoSchema.safeParse(input);
    if (parsed.success) return parsed.data.items;
  }
  return [];
}
