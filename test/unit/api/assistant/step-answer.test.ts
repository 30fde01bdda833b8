import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, it } from 'vitest';
import { createStepAnswer } from '../../../../api/assistant/step-answer.ts';

it('keeps reasoning, signed and in its place, and no blank text', () => {
  const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'search' };
  const parts: LanguageModelV4StreamPart[] = [
    { type: 'reasoning-start', id: 'r', providerMetadata: { openai: { itemId: 'rs_1' } } },
    { type: 'reasoning-delta', id: 'r', delta: 'I had better ' },
    { type: 'reasoning-delta', id: 'r', delta: 'search.' },
    { type: 'reasoning-end', id: 'r', providerMetadata: { anthropic: { signature: 'signed' } } },
    { type: 'text-delta', id: 't', delta: 'One ' },
    { type: 'text-delta', id: 't', delta: 'moment.' },
    { ...call, input: '{"query":"x"}', providerMetadata: { google: { thoughtSignature: 'signed' } } },
    { type: 'text-delta', id: 't', delta: ' \n' },
    { ...call, input: '{"query":' },
  ];
  const answer = createStepAnswer();
  for (const part of parts) answer.take(part);
  expect(answer.content()).toEqual([
    { type: 'reasoning', text: 'I had better search.', providerOptions: { anthropic: { signature: 'signed' } } },
    { type: 'text', text: 'One moment.' },
    { ...call, input: { query: 'x' }, providerOptions: { google: { thoughtSignature: 'signed' } } },
    { ...call, input: {} },
  ]);
});
