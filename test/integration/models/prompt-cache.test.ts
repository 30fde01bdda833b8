import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it, vi } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
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
