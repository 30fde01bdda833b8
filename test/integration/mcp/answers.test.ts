import { afterAll, beforeAll, expect, it } from 'vitest';
import { untilEarlyIn } from '../../support/early-in.ts';
import { serveModelApi, type ModelApi } from '../assistant/model-api.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite } from '../assistant/site.ts';
import { connectMcp, textOf } from './mcp-client.ts';

let api: ModelApi;
beforeAll(async () => {
  // a stalled model ends only with its client
  api = await serveModelApi({ times: { modelStalledMs: 600_000 } });
});
afterAll(() => api?.[Symbol.asyncDispose]());

const ask = { name: 'ask', arguments: { question: 'retry limit?' } };

it.each(['application/json, text/event-stream', 'application/json'])(
  'ends the model call when a client that accepts %s disconnects',
  async (accept) => {
    api.model.respondWith({ text: 'one', stall: true });
    const leave = new AbortController();
    const asked = fetch(`${api.apis[0]!.url}/mcp/${api.docs.site.domain}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${api.docs.assistantKey}`, 'content-type': 'application/json', accept },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: ask }),
      signal: leave.signal,
    }).catch(() => null);
    const call = await api.model.nextRequest();
    leave.abort();
    await asked;
    expect(await call.closed).toBe('aborted');
  },
);

it('reports progress while the model writes', async () => {
  const client = await connectMcp(api.apis[0]!, api.docs);
  api.model.respondWith({ text: 'Set the limit. '.repeat(100) });
  const progress: number[] = [];
  const result = await client.callTool(ask, undefined, { onprogress: (step) => void progress.push(step.progress) });
  expect(textOf(result)).toContain('Set the limit.');
  expect(progress.length).toBeGreaterThan(0);
  expect(progress).toEqual(progress.toSorted((a, b) => a - b));
  await client.close();
});

it('says that the model failed, and nothing else about it', async () => {
  const client = await connectMcp(api.apis[0]!, api.docs);
  api.model.respondWith({ status: 500 });
  const result = await client.callTool(ask);
  expect([result.isError, textOf(result)]).toEqual([
    true,
    'The answer was interrupted because the language model failed. Ask again.',
  ]);
  await client.close();
});

it('spends the budget of the organization, and says when there is none left', async () => {
  await untilEarlyIn('day');
  const { database, model } = api;
  const env = {
    DOCKET_ASSISTANT_MODEL: 'compatible/x',
    OPENAI_COMPATIBLE_BASE_URL: model.baseUrl,
    OPENAI_COMPATIBLE_API_KEY: 'key',
    DOCKET_MODEL_PRICES: '{"compatible/x": {"input": 0, "output": 50}}',
    DOCKET_MAX_ORGANIZATION_DOLLARS_PER_DAY: '0.5',
  };
  await using priced = await serveApi(database.pool, env);
  const docs = await buildIndexedSite(database.pool);
  const client = await connectMcp(priced, docs);
  model.respondWith({ text: 'Set the limit.', usage: { inputTokens: 1, outputTokens: 8_000 } });
  // two calls at $0.40 exceed it
  for (let count = 0; count < 2; count += 1) expect((await client.callTool(ask)).isError).toBeUndefined();
  const refused = await client.callTool(ask);
  expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('has reached its daily budget')]);
  await client.close();
});

it('counts each message against the limit of the organization', async () => {
  const { pool } = api.database;
  await using limited = await serveApi(pool, { DOCKET_ASSISTANT_PER_HOUR: '3' });
  const { site, assistantKey: key } = await buildIndexedSite(pool);
  const json = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const statuses: number[] = [];
  for (let count = 0; count < 4; count += 1) {
    const { status, headers } = await limited.ask(`/mcp/${site.domain}`, { key, json });
    statuses.push(status);
    expect(headers.get('ratelimit')).toContain('"org"');
  }
  expect(statuses).toEqual([200, 200, 200, 429]);
});
