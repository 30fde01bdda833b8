import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createModelRegistry } from '../../../models/registry.ts';

it('sends nothing to a model once the step belongs to another attempt, however late that is discovered', async () => {
  const order: string[] = [];
  const server = createServer((_request, response) => {
    order.push('asked');
    const chunk = { id: 'a', choices: [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }] };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const askModel = createAskModel({ models: createModelRegistry({ compatible: { baseUrl } }) });
  const question = {
    model: 'compatible/any',
    system: '',
    messages: [{ role: 'user' as const, content: 'Is it done?' }],
    toolset: {},
    signal: new AbortController().signal,
  };
  try {
    const takenOver = new Error('Another attempt has the step.');
    await expect(askModel({ ...question, confirm: () => Promise.reject(takenOver) })).rejects.toBe(takenOver);
    expect(order).toEqual([]);
    const confirm = async () => void order.push('confirmed');
    await askModel({ ...question, confirm });
    expect(order).toEqual(['confirmed', 'asked']);
  } finally {
    server.close();
  }
});
