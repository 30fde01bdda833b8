import type { ModelMessage } from 'ai';
import { afterEach, expect, it, vi } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { startAnthropicServer } from '../../support/servers/anthropic-server.ts';

afterEach(() => vi.unstubAllEnvs());

const asked: ModelMessage = { role: 'user', content: 'Go' };
const answered = (...content: object[]) => ({ role: 'assistant', content }) as ModelMessage;
const text = (words: string) => ({ type: 'text', text: words });
const call = { toolCallId: 'call_1', toolName: 'list' };
const result: ModelMessage = {
  role: 'tool',
  content: [{ type: 'tool-result', ...call, output: { type: 'text', value: 'a.txt' } }],
};

it.each([
  ['an answer that was cut off', [asked, answered(text('One, two,'))]],
  ['several answers that were cut off', [asked, answered(text('One,')), answered(text('two,'))]],
  ['a blank answer', [asked, answered(text(' \n')), asked]],
  ['a blank last answer', [asked, answered(text('\n'))]],
  ['a blank text with a call', [asked, answered(text('\n\n'), { type: 'tool-call', ...call, input: {} }), result]],
])('continues after %s', async (_, messages) => {
  await using server = await startAnthropicServer(() => [{ name: 'list', input: { path: '.' } }]);
  vi.stubEnv('ANTHROPIC_BASE_URL', server.baseUrl);
  const askModel = createAskModel({ models: createModelRegistry({ anthropicApiKey: 'key-of-anthropic' }) });
  const answer = await askModel({
    model: 'anthropic/claude-sonnet-4-6',
    system: 'Be brief.',
    messages,
    toolset: createToolset(),
    signal: new AbortController().signal,
    cacheKey: 'job_1',
  });
  expect(answer.response.toolCalls).toHaveLength(1);
});
