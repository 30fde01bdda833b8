import type { LanguageModelV4Prompt, LanguageModelV4ToolResultOutput } from '@ai-sdk/provider';

export interface ToolResult {
  text: string;
  isError: boolean;
}

/** What a prompt asks for now, and what has come of the calls made so far. */
export interface Transcript {
  /** How often the work was ended in vain since then. */
  refusedFinishes: number;
  /** The messages since the last turn that ended; `id` is the message's place among all of the user's messages. */
  requests: { id: number; text: string }[];
  resultOf(callId: string): ToolResult | null;
  /** The input of a call made before. It outlives the call's output, which may be left out of a long prompt. */
  inputOf(callId: string): unknown;
}

/** What stands in the place of a result when a call was never run; the call is made again. */
const notRun = 'This call was not run.';

/** What the service itself says asks for no edit. */
const serviceNote = '(Note of the service: ';

/**
 * A turn has ended with a call of `finish` that was not refused or an answer without calls; what was asked before that is done. A message
 * that arrives in the middle of a turn joins what is being worked on.
 */
export function readTranscript(prompt: LanguageModelV4Prompt): Transcript {
  const results = new Map<string, ToolResult>();
  const inputs = new Map<string, unknown>();
  let requests: Transcript['requests'] = [];
  let userMessages = 0;
  let ended: Transcript['requests'] = [];
  let refusedFinishes = 0;
  for (const message of prompt) {
    if (message.role === 'system') continue;
    if (message.role === 'user') {
      const text = message.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
      if (text.startsWith(serviceNote)) continue;
      userMessages += 1;
      requests.push({ id: userMessages, text });
      continue;
    }
    for (const part of message.content) {
      if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
      if (part.type !== 'tool-result') continue;
      const result = resultOf(part.output);
      if (part.toolName === 'finish' && result.isError && result.text !== notRun) {
        requests = [...ended, ...requests];
        refusedFinishes += 1;
      }
      if (result.text === notRun) results.delete(part.toolCallId);
      else results.set(part.toolCallId, result);
    }
    if (message.role === 'assistant') {
      const calls = message.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []));
      if (calls.length === 0 || calls.includes('finish')) {
        ended = requests;
        requests = [];
      }
    }
  }
  return {
    requests,
    refusedFinishes,
    resultOf: (callId) => results.get(callId) ?? null,
    inputOf: (callId) => inputs.get(callId) ?? null,
  };
}

function resultOf(output: LanguageModelV4ToolResultOutput): ToolResult {
  switch (output.type) {
    case 'text':
      return { text: output.value, isError: false };
    case 'error-text':
      return { text: output.value, isError: true };
    case 'json':
      return { text: JSON.stringify(output.value), isError: false };
    case 'error-json':
      return { text: JSON.stringify(output.value), isError: true };
    case 'execution-denied':
      return { text: output.reason ?? 'The call was refused.', isError: true };
    default:
      return {
        text: output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n'),
        isError: false,
      };
  }
}
