import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ModelMessage } from 'ai';
import { afterEach, expect, it, vi } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { gatewayUsage } from '../../../models/gateway-cache.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';

afterEach(() => vi.unstubAllEnvs());

const question = {
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'Go' }],
  toolset: createToolset(),
  signal: new AbortController().signal,
};

it('sends a cache key to compatible servers only when that is configured', async () => {
  await using server = await startScriptedModelServer();
  server.respondWith({ text: 'Done.' });
  const ask = (sendsCacheKey: boolean, cacheKey?: string) =>
    createAskModel({ models: createModelRegistry({ compatible: { baseUrl: server.baseUrl, sendsCacheKey } }) })({
      ...question,
      model: 'compatible/one',
      cacheKey,
    });
  const answers = [await ask(false), await ask(false, 'job_1'), await ask(true, 'job_1')];
  const [plain, silent, keyed] = server.requests.map(({ body }) => body);
  expect(silent).toEqual(plain);
  expect(keyed).toEqual({ ...plain, prompt_cache_key: 'job_1' });
  // a replay rebuilds the request without them
  expect(new Set(answers.map(({ requestHash }) => requestHash)).size).toBe(1);
});

it('marks prefixes only for gateways that accept marks, and only those that later calls share', async () => {
  await using server = await startScriptedModelServer();
  server.respondWith({ text: 'Done.' });
  const ask = (marksPrefixes: boolean, cacheKey?: string, more: ModelMessage[] = []) =>
    createAskModel({ models: createModelRegistry({ compatible: { baseUrl: server.baseUrl, marksPrefixes } }) })({
      ...question,
      messages: [...question.messages, ...more],
      model: 'compatible/one',
      cacheKey,
    });
  const call = { toolCallId: 'call_1', toolName: 'list' };
  const answered: ModelMessage[] = [
    { role: 'assistant', content: [{ type: 'tool-call', ...call, input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', ...call, output: { type: 'text', value: 'a.txt' } }] },
  ];
  await ask(false, 'job_1');
  await ask(true);
  await ask(true, 'job_1');
  await ask(true, 'job_1', answered);
  const [plain, single, first, second] = server.requests.map(({ body }) => body as { messages: object[] });
  expect(single).toEqual(plain);
  const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }];
  const opening = [
    { role: 'system', content: marked('Be brief.') },
    { role: 'user', content: marked('Go') },
  ];
  expect(first).toEqual({ ...plain, messages: opening });
  expect(second?.messages).toEqual([
    ...opening,
    expect.objectContaining({ role: 'assistant', content: null }),
    { role: 'tool', tool_call_id: 'call_1', content: marked('a.txt') },
  ]);
});

it.each([
  ['OpenRouter', { prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 } }],
  ['LiteLLM', { prompt_tokens_details: { cached_tokens: 60 }, cache_creation_input_tokens: 30 }],
])('counts what %s has written to the cache', (_, counts) => {
  const used = gatewayUsage({ prompt_tokens: 100, completion_tokens: 7, ...counts });
  expect(used.inputTokens).toMatchObject({ total: 100, cacheRead: 60, cacheWrite: 30 });
  expect(used.outputTokens.total).toBe(7);
  expect(gatewayUsage(null).inputTokens.total).toBeUndefined();
});

it('sends a cache key to OpenAI', async () => {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      server.emit('asked', JSON.parse(Buffer.concat(parts).toString()));
      response.writeHead(400).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  vi.stubEnv('OPENAI_BASE_URL', `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  const asked = once(server, 'asked');
  const models = createModelRegistry({ openaiApiKey: 'key-of-openai' });
  await createAskModel({ models })({ ...question, model: 'openai/gpt-5', cacheKey: 'job_1' }).catch(() => undefined);
  server.close();
  expect(await asked).toMatchObject([{ prompt_cache_key: 'job_1' }]);
});
