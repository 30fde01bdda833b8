import type { Ledger } from '../../db/for-worker/job-context.ts';
import type { StepRow, ToolCall } from '../../db/for-worker/steps.ts';
import { todoItemsOf } from '../tools/toolset.ts';

export const emptyLedger: Ledger = { read: {}, changed: [], todo: [] };

/** Largest number of entries; the oldest are removed first. */
const maxFiles = 200;
const changing = new Set(['write', 'edit', 'multi_edit', 'delete', 'move']);

/** Returns the files read, with their etags, the files changed, and the todo list after further steps. */
export function ledgerAfter(before: Ledger, steps: StepRow[]): Pick<Ledger, 'read' | 'changed' | 'todo'> {
  const read = new Map(Object.entries(before.read));
  const changed = new Set(before.changed);
  let { todo } = before;
  for (const { response, toolResults } of steps) {
    const calls = (response?.toolCalls ?? []).filter((call) => call.invalid === undefined);
    for (const call of calls) {
      const result = toolResults?.find(({ toolCallId }) => toolCallId === call.toolCallId);
      if (result === undefined || result.isError) continue;
      if (call.toolName === 'todo') todo = todoItemsOf([call]);
      for (const path of pathsOf(call)) {
        if (call.toolName === 'read') renew(read, path, etagIn(result.output));
        if (!changing.has(call.toolName)) continue;
        changed.delete(path);
        changed.add(path);
        if (call.toolName === 'delete') read.delete(path);
        else renew(read, path, etagIn(result.output));
      }
    }
  }
  return {
    read: Object.fromEntries([...read].slice(-maxFiles)),
    changed: [...changed].slice(-maxFiles),
    todo,
  };
}

/** Writes the ledger as the text that the model reads. */
export function ledgerText({ read, changed, todo, plan }: Ledger): string {
  const parts: string[] = [];
  if (plan !== undefined) parts.push(`The plan that was approved:\n${plan}`);
  if (changed.length > 0) parts.push(`Files changed so far:\n${changed.map((path) => `- ${path}`).join('\n')}`);
  const files = Object.entries(read);
  if (files.length > 0) {
    const lines = files.map(([path, etag]) => (etag === null ? `- ${path}` : `- ${path} (etag ${etag})`));
    parts.push(`Files read so far (their text is no longer here; read again what you need):\n${lines.join('\n')}`);
  }
  if (todo.length > 0)
    parts.push(`The todo list:\n${todo.map(({ text, done }) => `[${done ? 'x' : ' '}] ${text}`).join('\n')}`);
  return parts.join('\n\n');
}

function pathsOf({ input }: ToolCall): string[] {
  if (typeof input !== 'object' || input === null) return [];
  return Object.entries(input).flatMap(([name, value]) =>
    ['path', 'from', 'to'].includes(name) && typeof value === 'string' ? [value] : [],
  );
}

/** Moves the newest entry to the end. */
function renew(read: Map<string, string | null>, path: string, etag: string | null): void {
  read.delete(path);
  read.set(path, etag);
}

function etagIn(output: string): string | null {
  return /\betag ([0-9a-f]{6,64})\b/.exec(output.slice(0, 2_000))?.[1] ?? null;
}
