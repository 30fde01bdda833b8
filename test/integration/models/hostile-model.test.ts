import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { ModelCallError } from '../../../activities/model/model-failures.ts';
import { createToolset } from '../../../activities/tools/toolset.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { listening } from '../../support/servers/listening.ts';

type Answer = (response: ServerResponse) => void | Promise<void>;

async function startServer(answer: Answer) {
  const requests: { headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const bytes of request) body += String(bytes);
    requests.push({ headers: request.headers, body });
    await answer(response);
  });
  const at = await listening(server);
  return {
    requests,
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

function ask(baseUrl: string) {
  const models = createModelRegistry({ compatible: { baseUrl, apiKey: 'key-of-the-model' } });
  const { signal } = new AbortController();
  const messages = [{ role: 'user' as const, content: 'Words of the conversation' }];
  const question = { model: 'compatible/any', system: '', messages, toolset: createToolset(), signal };
  return createAskModel({ models })(question);
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'a', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

/** Writes for as long as the client reads. */
async function writeOn(response: ServerResponse, piece: string): Promise<void> {
  const closed = once(response, 'close');
  while (!response.destroyed) if (!response.write(piece)) await Promise.race([once(response, 'drain'), closed]);
}

it.each([301, 302, 303, 307, 308])(
  'follows no redirect with %d, which would forward the conversation',
  async (status) => {
    await using thief = await startServer((response) => void response.end('{}'));
    await using model = await startServer((response) => {
      response.writeHead(status, { location: thief.baseUrl }).end();
    });
    await expect(ask(model.baseUrl)).rejects.toMatchObject({ cause: { statusCode: status } });
    expect(thief.requests).toEqual([]);
  },
);

const words = 'lorem ipsum '.repeat(5_000);
async function expectCutOff(_: string, piece: string): Promise<void> {
  await using model = await startServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    return writeOn(response, piece);
  });
  await expect(ask(model.baseUrl)).rejects.toThrow(ModelCallError);
}

it.each([
  ['words', chunk({ content: words })],
  ['reasoning', chunk({ reasoning_content: words })],
  ['arguments', chunk({ tool_calls: [{ index: 0, id: 'a', function: { name: 'read', arguments: words } }] })],
  ['no line', words],
])('cuts off an endless answer: %s', expectCutOff);
it.each([['comments', `: ${words}\n\n`]])('cuts off an endless answer: %s', { tags: 'slow' }, expectCutOff);

it('cuts off an endless error', async () => {
  await using model = await startServer((response) => {
    response.writeHead(500, { 'content-type': 'application/json' });
    return writeOn(response, words);
  });
  await expect(ask(model.baseUrl)).rejects.toThrow(ModelCallError);
});

it('runs the first hundred calls of an answer', async () => {
  await using model = await startServer((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (let index = 0; index < 300; index += 1) {
      const call = { index, id: `call_${index}`, function: { name: 'read', arguments: '{"path":"a"}' } };
      response.write(chunk({ tool_calls: [call] }));
    }
    response.end(`${chunk({}, 'tool_calls')}data: [DONE]\n\n`);
  });
  const { response, usage } = await ask(model.baseUrl);
  expect(response.toolCalls).toHaveLength(300);
  expect(response.toolCalls.filter(({ invalid }) => invalid === undefined)).toHaveLength(100);
  // the server reported no usage
  expect(usage.outputTokens).toBeGreaterThan(300);
  expect(usage.inputTokens).toBeGreaterThan(0);
});
