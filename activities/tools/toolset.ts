import { z } from 'zod';
import { isPlanning, type JobRow } from '../../db/jobs/jobs.ts';
import type { AgentTool, Toolset } from './agent-tool.ts';
import { askTool } from './ask-tool.ts';
import { editTool, multiEditTool } from './edit/edit-tools.ts';
import { describeFetch, fetchTool } from './fetch/fetch-tool.ts';
import { globTool } from './files/glob-tool.ts';
import { grepTool } from './files/grep-tool.ts';
import { listTool } from './files/list-tool.ts';
import { deleteTool, moveTool } from './files/move-and-delete-tools.ts';
import { readTool } from './files/read-tool.ts';
import { defineTool } from './define-tool.ts';
import { historyTools } from './history/history-tools.ts';
import { skillTool } from './skill-tool.ts';
import type { PreparedEnvironment } from '../environment/prepared-environment.ts';
import { describeRun } from './run-tool.ts';
import { writeTool } from './files/write-tool.ts';

const todoSchema = z.object({
  items: z
    .array(z.object({ text: z.string().min(1).max(500), done: z.boolean() }))
    .max(100)
    .describe('The complete new list'),
});

const todoTool = defineTool({
  description: 'Records the steps of the work and which of them are done. Give the complete list each time.',
  inputSchema: todoSchema,
  isReadOnly: true,
  async run({ items }) {
    if (items.length === 0) return 'The list is empty.';
    return items.map(({ text, done }) => `[${done ? 'x' : ' '}] ${text}`).join('\n');
  },
});

const finishSchema = z.object({
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
  findings: z
    .string()
    .max(5_000)
    .optional()
    .describe('What you found when you reviewed your change and did not correct, in Markdown; omit it if nothing'),
  complete: z.boolean().optional().describe('false if part of the task remains; then name it in the summary'),
});

/** The call that ends a turn. */
export type FinishCall = z.infer<typeof finishSchema>;

const finishTool = defineTool({
  description: 'Finishes the work. Call it once, when everything is done, or when nothing can be done; then say why.',
  inputSchema: finishSchema,
  isReadOnly: true,
  async run() {
    return 'The work is finished.';
  },
});

/** Ends a turn that only plans. */
const planTool = defineTool({
  description: 'Finishes the planning. Call it once, with the plan; a person then approves, changes or rejects it.',
  inputSchema: finishSchema.pick({ title: true }).extend({
    summary: z
      .string()
      .trim()
      .min(1)
      .max(20_000)
      .describe('The plan in Markdown: which files change and how, how the change is checked, and what you assume'),
  }),
  isReadOnly: true,
  async run() {
    return 'The plan waits for a person.';
  },
});

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
    ...historyTools,
    skill: skillTool,
    fetch: fetchTool,
    ...(run === undefined ? {} : { run }),
    todo: todoTool,
    ask: askTool,
    finish: finishTool,
  };
}

type ToolUser = Pick<JobRow, 'mayAsk' | 'planReview' | 'approvedTurn'> & {
  project: { mayRun: boolean };
  environment: Pick<PreparedEnvironment, 'run' | 'start'>;
};

/**
 * Returns the tools that the agent of a job may call, with the limits of its environment. While it plans, those that
 * only read.
 */
export function allowedTools(toolset: Toolset, job: ToolUser): Toolset {
  const isOnlyPlanning = isPlanning(job);
  const allowed = Object.entries(toolset).filter(
    ([name, { isReadOnly }]) =>
      (name !== 'run' || job.project.mayRun) && (name !== 'ask' || job.mayAsk) && (isReadOnly || !isOnlyPlanning),
  );
  const tools: Toolset = { ...Object.fromEntries(allowed), ...(isOnlyPlanning ? { finish: planTool } : {}) };
  const { run } = tools;
  const { run: own, start } = job.environment;
  if (run === undefined || own === null) return tools;
  return { ...tools, run: { ...run, ...describeRun({ ...own, hasStart: start !== null }) } };
}

/** Returns the tools that a turn offers to its model: those that its job may call and that have a use in it. */
export function offeredTools(
  toolset: Toolset,
  job: ToolUser,
  { skills, fetchHosts }: { skills: readonly unknown[]; fetchHosts: readonly string[] },
): Toolset {
  const offered = Object.entries(allowedTools(toolset, job)).flatMap(([name, tool]): [string, AgentTool][] => {
    if (name === 'skill') return skills.length > 0 ? [[name, tool]] : [];
    if (name !== 'fetch') return [[name, tool]];
    return fetchHosts.length > 0 ? [[name, { ...tool, description: describeFetch(fetchHosts) }]] : [];
  });
  return Object.fromEntries(offered);
}

/** Returns the first valid `finish` call of a batch. */
export function finishCallOf(calls: { toolName: string; input: unknown }[]): FinishCall | null {
  for (const { toolName, input } of calls) {
    if (toolName !== 'finish') continue;
    const parsed = finishSchema.safeParse(input);
    if (parsed.success) return parsed.data;
  }
  return null;
}

/** Reports whether a `finish` call says that everything is done, which it must state if a limit forced it. */
export function isDone({ complete }: FinishCall, wasForced: boolean): boolean {
  return wasForced ? complete === true : complete !== false;
}

/** Returns the todo list after the last valid `todo` call of a transcript. */
export function todoItemsOf(calls: { toolName: string; input: unknown }[]): z.infer<typeof todoSchema>['items'] {
  for (const { toolName, input } of calls.toReversed()) {
    if (toolName !== 'todo') continue;
    const parsed = todoSchema.safeParse(input);
    if (parsed.success) return parsed.data.items;
  }
  return [];
}
