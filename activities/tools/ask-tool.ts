import { z } from 'zod';
import { maxQuestionChoices, type Question } from '../../db/jobs/jobs.ts';
import type { ToolCall, ToolResult } from '../../db/for-worker/steps.ts';
import { defineTool } from './define-tool.ts';

const askSchema = z.object({
  question: z
    .string()
    .trim()
    .min(1)
    .max(2_000)
    .describe('The question, with what the person needs to know to answer it'),
  choices: z
    .array(z.string().trim().min(1).max(200))
    .max(maxQuestionChoices)
    .default([])
    .describe('Suggested answers; the person may also answer in other words'),
});

export const askTool = defineTool({
  description:
    'Puts one question to the person who gave the task and waits for the answer, which may take days. Ask only what ' +
    'the repository cannot tell you and what changes the result; otherwise decide yourself and say so in finish.',
  inputSchema: askSchema,
  isReadOnly: true,
  async run() {
    return 'The question has no answer yet. If a message of the person follows, it came before the question was seen: ask again if the question is still open.';
  },
});

/** Result of a question whose turn ended with a message that was written before it. */
export const notAsked =
  'Not asked: the next message of the person came before the question. Ask again if it is still open.';

/**
 * Refuses the calls that cannot be beside a question: a further one, and `finish`, because the work continues with the
 * answer.
 */
export function withOneQuestion(calls: ToolCall[]): ToolCall[] {
  const first = calls.find(isQuestion);
  if (first === undefined) return calls;
  return calls.map((call) => {
    if (call === first || call.invalid !== undefined) return call;
    if (call.toolName === 'ask') return { ...call, invalid: 'Not asked: put one question at a time.' };
    if (call.toolName !== 'finish') return call;
    return { ...call, invalid: 'The work is not finished: the question beside it waits for its answer.' };
  });
}

interface StepOutput {
  response: { toolCalls: ToolCall[] } | null;
  toolResults: ToolResult[] | null;
}

/** Returns the call with which a step asked a question; null when there is none. */
export function questionCallOf({ response, toolResults }: StepOutput): ToolCall | null {
  const call = response?.toolCalls.find(isQuestion);
  const result = toolResults?.find(({ toolCallId }) => toolCallId === call?.toolCallId);
  return call === undefined || result === undefined || result.isError ? null : call;
}

/** Returns the question that a step put, for which its turn waits; null when it put none. */
export function questionOf(step: StepOutput): Question | null {
  const call = questionCallOf(step);
  if (call === null) return null;
  const { question, choices } = askSchema.parse(call.input);
  return { text: question, choices };
}

function isQuestion({ toolName, input, invalid }: ToolCall): boolean {
  return toolName === 'ask' && invalid === undefined && askSchema.safeParse(input).success;
}
