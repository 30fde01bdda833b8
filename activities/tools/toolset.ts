import type { AgentTool, Toolset } from './agent-tool.ts';
import { editTool, multiEditTool } from './edit/edit-tools.ts';
import { globTool } from './files/glob-tool.ts';
import { grepTool } from './files/grep-tool.ts';
import { listTool } from './files/list-tool.ts';
import { deleteTool, moveTool } from './files/move-and-delete-tools.ts';
import { readTool } from './files/read-tool.ts';
import { finishSchema, finishTool, todoSchema, todoTool } from './turn-tools.ts';
import { writeTool } from './files/write-tool.ts';

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
