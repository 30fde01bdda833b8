import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

export interface ToolResult {
  text: string;
  isError: boolean;
}

/** The open requests of a prompt, and the results of the calls made so far. */
export interface Transcript {
  /** Number of calls of the whole conversation. */
  calls: number;
  /** Messages since the last turn that ended. `id` is the message's position among all user messages. */
  requests: { id: number; text: string }[];
  resultOf(callId: string): ToolResult | null;
  /** Returns the inputs of earlier calls by id prefix. They outlive the outputs, which a long prompt may leave out. */
  inputsOf(callIds: string): Record<string, unknown>[];
}

/** Result of a call that was never run, which is then repeated. */
const notRun = 'This call was not run.';

/** Prefix of messages from the service itself, which do not request edits. */
const serviceNote = '(Note of the service: ';

/**
 * Reads a prompt. A turn ends with an accepted call of `finish` or an answer without calls, and the requests before
 * that are done. A message that arrives during a turn is added to the open requests.
 */
export function readTranscript(prompt: LanguageModelV4Prompt): Transcript {
  const results = new Map<string, ToolResult>();
  const inputs = new Map<string, Record<string, unknown>>();
  let requests: Transcript['requests'] = [];
  let userMessages = 0;
  for (const message of prompt) {
    if (message.role === 'system') continue;
    if (message.role === 'user') {
      const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      if (text.startsWith(serviceNote)) continue;
      userMessages += 1;
      requests.push({ id: userMessages, text });
      continue;
    }
    if (message.role === 'assistant' && message.content.every(({ type }) => type !== 'tool-call')) requests = [];
    for (const part of message.content) {
      if (part.type === 'tool-call') inputs.set(part.toolCallId, { ...Object(part.input) });
      if (part.type !== 'tool-result') continue;
      const result = resultOf(part.output);
      if (result.text !== notRun) results.set(part.toolCallId, result);
      if (part.toolName === 'finish' && !result.isError) requests = [];
    }
  }
  return {
    requests,
    calls: inputs.size,
    resultOf: (callId) => results.get(callId) ?? null,
    inputsOf: (callIds) => [...inputs].flatMap(([id, input]) => (id.startsWith(callIds) ? [input] : [])),
  };
}

function resultOf(output: LanguageModelV4ToolResultOutput): ToolResult {
  const text = 'value' in output && typeof output.value === 'string' ? output.value : JSON.stringify(output);
  return { text, isError: output.type.startsWith('error-') || output.type === 'execution-denied' };
}
