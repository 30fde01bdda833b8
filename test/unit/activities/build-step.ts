import type { StepRow, ToolCall, ToolResult } from '../../../db/for-worker/steps.ts';

export interface StepParts {
  turn?: number;
  step?: number;
  text?: string;
  toolCalls?: ToolCall[];
  toolResults?: ToolResult[] | null;
  model?: string | null;
}

/** A step as the store returns it, with content that matches its text and calls. */
export function buildStep({
  turn = 1,
  step = 1,
  text = '',
  toolCalls = [],
  toolResults = null,
  model = null,
}: StepParts = {}): StepRow {
  const calls = toolCalls.map(({ toolCallId, toolName, input, invalid }) => ({
    type: 'tool-call',
    toolCallId,
    toolName,
    input: invalid === undefined ? input : {},
  }));
  const content = [...(text === '' ? [] : [{ type: 'text', text }]), ...calls];
  return {
    jobId: 'job_1',
    turn,
    step,
    fence: 1,
    response: { content, text, toolCalls },
    finishReason: 'stop',
    usage: { inputTokens: 0, outputTokens: 0 },
    cachedTokens: 0,
    costMicros: 0,
    toolResults,
    tree: null,
    modelFailures: 0,
    model,
    toolsHash: null,
  };
}
