import { z } from 'zod';
import { defineTool } from './define-tool.ts';

export const todoSchema = z.object({
  items: z
    .array(z.object({ text: z.string().min(1).max(500), done: z.boolean() }))
    .max(100)
    .describe('The complete new list'),
});

export const todoTool = defineTool({
  description: 'Records the steps of the work and which of them are done. Give the complete list each time.',
  inputSchema: todoSchema,
  isReadOnly: true,
  async run({ items }) {
    if (items.length === 0) return 'The list is empty.';
    return items.map(({ text, done }) => `[${done ? 'x' : ' '}] ${text}`).join('\n');
  },
});

export const finishSchema = z.object({
  title: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('What was done, in one line; becomes the title of the pull request'),
  summary: z
    .string()
    .max(20_000)
    .describe('What was done and why, in Markdown; becomes the description of the pull request'),
  checked: z
    .string()
    .max(2_000)
    .optional()
    .describe('How you verified the change, and the result; omit it if you verified nothing'),
  complete: z.boolean().optional().describe('false if part of the task remains; then name it in the summary'),
});

export const finishTool = defineTool({
  description: 'Finishes the work. Call it once, when everything is done, or when nothing can be done; then say why.',
  inputSchema: finishSchema,
  isReadOnly: true,
  async run() {
    return 'The work is finished.';
  },
});
