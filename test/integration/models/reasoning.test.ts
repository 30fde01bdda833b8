import type { ModelMessage } from 'ai';
import { afterEach, expect, it, vi } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { startOpenAiServer } from '../../support/servers/openai-server.ts';

afterEach(() => vi.unstubAllEnvs());

it('sends its reasoning back to an OpenAI that stores nothing', async () => {
  await using server = await startOpenAiServer(() => [{ name: 'list', input: { path: '.' } }]);
  vi.stubEnv('OPENAI_BASE_URL', server.baseUrl);
  const askModel = createAskModel({ models: createModelRegistry({ openaiApiKey: 'key-of-openai' }) });
  const ask = (messages: ModelMessage[]) =>
    askModel({
      model: 'openai/gpt-5',
      system: 'Be brief.',
      messages,
      toolset: createToolset(),
      signal: new AbortController().signal,
      cacheKey: 'job_1',
    });
  const asked: ModelMessage = { role: 'user', content: 'Go' };
  const { response } = await ask([asked]);
  const [call] = response.toolCalls;
  await ask([
    asked,
    { role: 'assistant', content: response.content } as ModelMessage,
    { role: 'tool', content: [{ type: 'tool-result', ...call!, output: { type: 'text', value: 'a.txt' } }] },
  ]);
  expect(server.requests).toMatchObject([{ store: false }, { store: false }]);
  expect(server.requests[1]?.input).toContainEqual(
    expect.objectContaining({ type: 'reasoning', encrypted_content: 'sealed' }),
  );
  // refused without what it led to
  const reasoning = response.content.filter((part) => (part as { type: string }).type === 'reasoning');
  await ask([asked, { role: 'assistant', content: reasoning } as ModelMessage, asked]);
});
