import { createServer } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { listening } from '../../support/servers/listening.ts';

/** Answers the first request of each connection; a reused one gets no answer, as when a router forgot the connection. */
async function startForgetfulModel() {
  const used = new Set<Socket>();
  const server = createServer((request, response) => {
    if (used.has(request.socket)) return;
    used.add(request.socket);
    const chunk = { id: 'a', choices: [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }] };
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'keep-alive': 'timeout=600' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
  });
  const at = await listening(server);
  return {
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

it('uses a new connection for each model call, so none is sent on a dead one', async () => {
  await using model = await startForgetfulModel();
  const models = createModelRegistry({ compatible: { baseUrl: model.baseUrl } });
  const askModel = createAskModel({ models, timeoutMs: 60_000 });
  const { signal } = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Is it done?' }];
  for (let call = 1; call <= 3; call += 1) {
    const answer = await askModel({ model: 'compatible/any', system: '', messages, toolset: {}, signal });
    expect(answer.response.text).toBe('Yes.');
  }
});
