import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createAskModel, type ModelQuestion } from '../../../activities/model/ask-model.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createModelRegistry, type ModelRegistry } from '../../../models/registry.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

const question = {
  system: 'Be brief.',
  messages: [{ role: 'user' as const, content: 'Go' }],
  toolset: createToolset(),
  signal: new AbortController().signal,
};
const google = 'https://generativelanguage.googleapis.com';

/** Returns the body that a provider is sent; the request is refused. */
async function bodySent(ask: (models: ModelRegistry) => PromiseLike<unknown>) {
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
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv('OPENAI_BASE_URL', `${baseUrl}/v1`);
  vi.stubEnv('ANTHROPIC_BASE_URL', `${baseUrl}/v1`);
  const send = fetch;
  // its address is not configurable
  vi.stubGlobal('fetch', (input: string, init: RequestInit) => send(String(input).replace(google, baseUrl), init));
  const asked = once(server, 'asked');
  const models = createModelRegistry({
    anthropicApiKey: 'key-of-anthropic',
    openaiApiKey: 'key-of-openai',
    googleApiKey: 'key-of-google',
    compatible: { baseUrl: `${baseUrl}/v1` },
  });
  await ask(models).then(undefined, () => undefined);
  vi.unstubAllGlobals();
  server.close();
  const [body] = await asked;
  return body;
}

const bodyOf = (settings: Pick<ModelQuestion, 'model' | 'reasoningEffort' | 'maxOutputTokens'>) =>
  bodySent((models) => createAskModel({ models })({ ...question, ...settings }));

/** Models by how they are sent an effort: as a word, or as a budget that is a share of their longest answer. */
const efforts = {
  'anthropic/claude-opus-4-8': (word: string) => ({
    max_tokens: 5_000,
    thinking: { type: 'adaptive' },
    output_config: { effort: word },
  }),
  'anthropic/claude-sonnet-5-5': (word: string) => ({
    max_tokens: 5_000,
    thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } },
    output_config: { effort: word },
  }),
  // a budget comes on top of the limit
  'anthropic/claude-sonnet-4-5': (_: string, share: number) => ({
    max_tokens: 5_000 + 64_000 * share,
    thinking: { type: 'enabled', budget_tokens: 64_000 * share },
  }),
  'openai/gpt-5': (word: string) => ({ max_output_tokens: 5_000, reasoning: { effort: word } }),
  'google/gemini-3-pro-preview': (word: string) => ({
    generationConfig: { maxOutputTokens: 5_000, thinkingConfig: { thinkingLevel: word } },
  }),
  'google/gemini-2.5-pro': (_: string, share: number) => ({
    generationConfig: {
      maxOutputTokens: 5_000,
      thinkingConfig: { thinkingBudget: Math.min(Math.round(65_536 * share), 32_768) },
    },
  }),
  'compatible/qwen': (word: string) => ({ max_tokens: 5_000, reasoning_effort: word }),
};

const shares = { low: 0.1, medium: 0.3, high: 0.6 };

describe.each(['low', 'medium', 'high'] as const)('the effort %s', (effort) => {
  it.each(Object.entries(efforts))('and the limit of a job are sent to %s', async (model, sent) => {
    const body = await bodyOf({ model, reasoningEffort: effort, maxOutputTokens: 5_000 });
    expect(body).toMatchObject(sent(effort, shares[effort]));
    // OpenAI refuses it to unverified organizations
    expect(body.reasoning ?? {}).not.toHaveProperty('summary');
  });
});

it.each([
  ['openai/gpt-5-pro', 'medium', 'high'],
  ['openai/gpt-5.4-pro', 'low', 'medium'],
  ['openai/gpt-5.4-pro-2026-03-05', 'high', 'high'],
  ['openai/o3-pro', 'low', 'low'],
] as const)('asks %s for the effort %s as %s, because it has none below', async (model, reasoningEffort, effort) => {
  expect((await bodyOf({ model, reasoningEffort })).reasoning).toEqual({ effort });
});

it.each([
  ['anthropic/claude-haiku-4-5', 'disabled'],
  ['anthropic/claude-haiku-5-5', 'disabled'],
  ['anthropic/claude-sonnet-5-5', 'between_tools'],
])('asks %s without reasoning with the thinking %s', async (model, type) => {
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Go' }] }];
  const body = await bodySent((models) => models.languageModel(model).doGenerate({ prompt, reasoning: 'none' }));
  expect(body.thinking).toEqual({ type });
});

it.each(['compatible/gpt-5.1', 'compatible/openai/o4-mini'])(
  'limits %s, which refuses max_tokens, by max_completion_tokens',
  async (model) => {
    const body = await bodyOf({ model, maxOutputTokens: 5_000 });
    expect(body).toMatchObject({ max_completion_tokens: 5_000 });
    expect(body).not.toHaveProperty('max_tokens');
  },
);

it.each(['openai/gpt-5', 'google/gemini-2.5-pro', 'compatible/qwen', 'anthropic/claude-opus-4-8'])(
  'sends %s neither by default',
  async (model) => {
    const plain = await bodyOf({ model });
    expect(await bodyOf({ model, reasoningEffort: null, maxOutputTokens: null })).toEqual(plain);
    expect(JSON.stringify(plain)).not.toMatch(/"(?:thinking\w*|reasoning|(?:reasoning_)?effort|max_?output_?tokens)"/i);
  },
);

it('reports a model without a reasoning effort, which is asked all the same', async () => {
  await using server = await startScriptedModelServer();
  server.respondWith({ text: 'Done.' });
  const models = createModelRegistry({ compatible: { baseUrl: server.baseUrl } });
  const ask = createAskModel({ models });
  const settings = { ...question, reasoningEffort: 'high' as const };
  expect(await ask({ ...settings, model: 'compatible/one' })).toMatchObject({ ignoresEffort: false });
  expect(await ask({ ...settings, model: 'offline/editor' })).toMatchObject({ ignoresEffort: true });
});
