import { z } from 'zod';
import { defineTool } from './define-tool.ts';

export const todoSchema = z.object({
  items: z
    .array(z.object({ text: z.string().min(1).max(500), done: z.boolean() }))
    .max(100)
    .describe('The whole list as it is from now on'),
});

export const todoTool = defineTool({
  description: 'Writes down the steps of the work and which of them are done. Give the whole list each time.',
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
    .describe('What was done, in one line: it becomes the title of the pull request'),
  summary: z
    .string()
    .max(20_000)
    .describe('What was done and why, in Markdown: it becomes the text of the pull request'),
  checked: z
    .string()
    .max(2_000)
    .optional()
    .describe('How you made sure that it is right, and what came of it; leave it out when you checked nothing'),
  complete: z.boolean().optional().describe('false when a part of the task is left to do; then name it in the summary'),
});

export const finishTool = defineTool({
  description: 'Ends the work. Call it once, when everything is done, or when nothing can be done; then say why.',
  inputSchema: finishSchema,
  isReadOnly: true,
  async run() {
    return 'The work is ended.';
  },
});
