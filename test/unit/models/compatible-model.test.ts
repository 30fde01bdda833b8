import { generateText, streamText } from 'ai';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createModelRegistry } from '../../../models/registry.ts';
import { startScriptedModelServer, type ScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { collect } from './memory-agent.ts';

const tools = { read: { inputSchema: z.object({ path: z.string() }) } };

function modelOf(server: ScriptedModelServer) {
  return createModelRegistry({ compatible: { baseUrl: server.baseUrl, apiKey: 'secret' } }).languageModel(
    'compatible/test',
  );
}

it('generates text, tool calls and usage, and sends its key', async () => {
  await using server = await startScriptedModelServer();
  server.script({
    text: 'I read two files.',
    toolCalls: [
      { name: 'read', input: { path: 'a' } },
      { name: 'read', rawArguments: '{"path": ' },
    ],
    usage: { inputTokens: 7, outputTokens: 3 },
  });
  const result = await generateText({ model: modelOf(server), prompt: 'Read', tools, maxRetries: 0 });
  expect(result.text).toBe('I read two files.');
  expect(result.toolCalls).toMatchObject([
    { toolName: 'read', input: { path: 'a' } },
    { toolName: 'read', invalid: true },
  ]);
  expect(result.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 });
  expect(server.requests[0]).toMatchObject({ authorization: 'Bearer secret', body: { model: 'test' } });
  expect(server.violations).toEqual([]);
});

it('streams reasoning, words and tool calls', async () => {
  await using server = await startScriptedModelServer();
  server.script({ reasoning: 'Hm well', text: ['one ', 'two'], toolCalls: [{ name: 'read', input: { path: 'ü' } }] });
  const result = streamText({ model: modelOf(server), prompt: 'Read', tools, maxRetries: 0 });
  const deltas: string[] = [];
  for await (const delta of result.textStream) deltas.push(delta);
  expect(deltas).toEqual(['one ', 'two']);
  expect(await result.reasoningText).toBe('Hm well');
  expect(await result.toolCalls).toMatchObject([{ input: { path: 'ü' } }]);
  expect(await result.usage).toMatchObject({ inputTokens: 100, outputTokens: 20 });
});

it('answers with a status and Retry-After', async () => {
  await using server = await startScriptedModelServer();
  server.script({ status: 429, retryAfter: 7, errorMessage: 'slow down' });
  const call = generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0 });
  await expect(call).rejects.toMatchObject({
    statusCode: 429,
    responseHeaders: { 'retry-after': '7' },
    isRetryable: true,
  });
});

it('cuts the socket in the middle of a reply', async () => {
  await using server = await startScriptedModelServer();
  server.script({ text: 'never complete', cut: true });
  await expect(generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0 })).rejects.toBeInstanceOf(Error);
  server.script({ text: ['one', 'two', 'three'], cut: 2 });
  const { stream } = await modelOf(server).doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
  });
  await expect(collect(stream)).rejects.toBeInstanceOf(Error);
  expect(await server.requests[1]?.closed).toBe('aborted');
});

it('stalls until it is released, and notices when a client leaves', async () => {
  await using server = await startScriptedModelServer();
  server.script({ text: 'late', stall: true }, { text: 'never', stall: true });
  const late = generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0 });
  (await server.nextRequest()).release();
  expect((await late).text).toBe('late');
  const controller = new AbortController();
  const left = generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0, abortSignal: controller.signal });
  const request = await server.nextRequest();
  controller.abort();
  await expect(left).rejects.toBeInstanceOf(Error);
  expect(await request.closed).toBe('aborted');
  const again = generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0 });
  (await server.nextRequest()).release();
  expect((await again).text).toBe('never');
});

it('counts unscripted requests, and those that a vendor would refuse, as violations', async () => {
  await using server = await startScriptedModelServer();
  await expect(generateText({ model: modelOf(server), prompt: 'x', maxRetries: 0 })).rejects.toMatchObject({
    statusCode: 500,
  });
  server.respondWith(({ body }) => ({ text: `You said ${body.messages.length} things.` }));
  expect((await generateText({ model: modelOf(server), prompt: 'x' })).text).toBe('You said 1 things.');
  const call = { type: 'tool-call', toolCallId: 'c', toolName: 'read', input: {} } as const;
  const prompt: any = [
    { role: 'user', content: [{ type: 'text', text: 'x' }] },
    { role: 'assistant', content: [call] },
  ];
  await expect(modelOf(server).doGenerate({ prompt })).rejects.toMatchObject({ statusCode: 400 });
  expect(server.violations).toEqual(['Request 1 is not scripted.', 'Tool calls without a result: c.']);
});

it('can be controlled over HTTP by another process', async () => {
  await using server = await startScriptedModelServer();
  const control = (path: string, body: unknown) => {
    return fetch(new URL(`/control/${path}`, server.baseUrl), { method: 'POST', body: JSON.stringify(body) });
  };
  await control('script', [{ text: 'first' }]);
  await control('respond-with', { text: 'later' });
  const model = modelOf(server);
  expect((await generateText({ model, prompt: 'x' })).text).toBe('first');
  expect((await generateText({ model, prompt: 'x' })).text).toBe('later');
  const state = await (await fetch(new URL('/control/state', server.baseUrl))).json();
  expect(state).toMatchObject({ pending: 0, violations: [], requests: [{ model: 'test' }, { model: 'test' }] });
});
