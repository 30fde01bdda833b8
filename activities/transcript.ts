import { assistantModelMessageSchema, type ModelMessage, type ToolModelMessage } from 'ai';
import type { Prompt } from '../db/jobs.ts';
import type { StepRow, ToolResult } from '../db/steps.ts';

export interface Transcript {
  /** What was asked, oldest first: each turn begins with one. */
  prompts: Prompt[];
  steps: StepRow[];
}

/** Tool outputs of the newest steps always stay whole. */
const recentSteps = 10;
/** Above this many characters of tool output, the older ones are masked. */
const largeTranscript = 120_000;
/** Masking a shorter output would save nothing. */
const shortOutput = 400;

/**
 * The conversation as the model is asked to continue it: each turn's prompt, then its answers and tool results, and what a
 * person said meanwhile before the answer that was the first to know it.
 */
export function conversationOf({ prompts, steps }: Transcript): ModelMessage[] {
  const answered = steps.filter((step) => step.response !== null);
  const maskBefore = isLarge(answered) ? answered.length - recentSteps : 0;
  const messages: ModelMessage[] = [];
  let index = 0;
  for (const prompt of prompts) {
    for (; isBefore(answered[index], prompt); index += 1)
      messages.push(...messagesOf(answered[index], index < maskBefore));
    messages.push({ role: 'user', content: prompt.prompt });
  }
  for (; index < answered.length; index += 1) messages.push(...messagesOf(answered[index], index < maskBefore));
  return messages;
}

function isBefore(step: StepRow | undefined, prompt: Prompt): boolean {
  if (step === undefined) return false;
  return step.turn < prompt.turn || (step.turn === prompt.turn && step.step < (prompt.step ?? Infinity));
}

function messagesOf(step: StepRow | undefined, masked: boolean): ModelMessage[] {
  const response = step?.response ?? null;
  if (step === undefined || response === null || response.content.length === 0) return [];
  const answer = assistantModelMessageSchema.parse({ role: 'assistant', content: response.content });
  if (response.toolCalls.length === 0) return [answer];
  const results = new Map(step.toolResults?.map((result) => [result.toolCallId, result]));
  const message: ToolModelMessage = {
    role: 'tool',
    content: response.toolCalls.map(({ toolCallId, toolName }) => {
      // providers refuse a call without a result for ever
      const { output, isError } = results.get(toolCallId) ?? { output: 'This call was not run.', isError: true };
      const value = masked ? maskedOutput(toolName, output) : output;
      return { type: 'tool-result', toolCallId, toolName, output: { type: isError ? 'error-text' : 'text', value } };
    }),
  };
  return [answer, message];
}

function maskedOutput(toolName: string, output: string): string {
  if (output.length <= shortOutput) return output;
  return `[${output.length} characters of an earlier ${toolName} left out; call the tool again if you need them]`;
}

function isLarge(steps: StepRow[]): boolean {
  return steps.reduce((sum, { toolResults }) => sum + sizeOf(toolResults), 0) > largeTranscript;
}

function sizeOf(results: ToolResult[] | null): number {
  return results?.reduce((sum, { output }) => sum + output.length, 0) ?? 0;
}
