import type { LanguageModelV4Content, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Attributes } from '@opentelemetry/api';

export type SaidPart = LanguageModelV4Content | { type: 'text'; text: string };

/** What a model is asked, in the form of OpenTelemetry's conventions. Files are left out. */
export function inputContent(prompt: LanguageModelV4Prompt): Attributes {
  const instructions = prompt.filter((message) => message.role === 'system');
  const messages = prompt.flatMap((message) => {
    if (message.role === 'system') return [];
    return [{ role: message.role, parts: message.content.flatMap(partOf) }];
  });
  return {
    'gen_ai.system_instructions': JSON.stringify(instructions.map(({ content }) => ({ type: 'text', content }))),
    'gen_ai.input.messages': JSON.stringify(messages),
  };
}

/** What a model answers; the deltas of a text become one part. */
export function outputContent(content: SaidPart[], finishReason: string): Attributes {
  const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const calls = content.flatMap((part) => (part.type === 'tool-call' ? partOf(part) : []));
  const parts = [...(text === '' ? [] : [{ type: 'text', content: text }]), ...calls];
  const message = { role: 'assistant', parts, finish_reason: finishReason };
  return { 'gen_ai.output.messages': JSON.stringify([message]) };
}

type PromptPart = Exclude<LanguageModelV4Prompt[number], { role: 'system' }>['content'][number];

function partOf(part: PromptPart | Extract<SaidPart, { type: 'tool-call' }>): object[] {
  if (part.type === 'text') return [{ type: 'text', content: part.text }];
  if (part.type === 'reasoning') return [{ type: 'reasoning', content: part.text }];
  if (part.type === 'tool-call')
    return [{ type: 'tool_call', id: part.toolCallId, name: part.toolName, arguments: part.input }];
  if (part.type === 'tool-result') return [{ type: 'tool_call_response', id: part.toolCallId, response: part.output }];
  return [];
}
