import { createServer } from 'node:http';
import { connect } from 'node:net';
import { inspect } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createAskModel } from '../../../activities/model/ask-model.ts';
import { verdictOfModelFailure, type ModelCallError } from '../../../activities/model/model-failures.ts';
import { createEgress } from '../../../lib/network/egress.ts';
import { useProxies } from '../../../lib/network/proxies.ts';
import type { Resolve } from '../../../lib/network/public-lookup.ts';
import { createModelRegistry } from '../../../models/registry.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { listening } from '../../support/servers/listening.ts';
import { startApi } from '../../support/stack/api-process.ts';
import { buildIndexedSite } from '../assistant/site.ts';

/** A model that says yes. */
async function startModel() {
  const server = createServer((request, response) => {
    const chunk = { id: 'a', choices: [{ index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }] };
    request.resume().once('end', () => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.end(`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`);
    });
  });
  return listening(server);
}

const authorization = `Basic ${Buffer.from('docket:p@ss').toString('base64')}`;

/** A proxy that needs a password, and takes every host for the port. */
async function startProxy(port: number) {
  const asked: (string | undefined)[] = [];
  const server = createServer();
  server.on('connect', (request, socket) => {
    asked.push(request.url);
    if (request.headers['proxy-authorization'] !== authorization) {
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    const target = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'));
    target.pipe(socket).pipe(target);
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  const at = await listening(server);
  return { asked, port: at.port, [Symbol.asyncDispose]: at[Symbol.asyncDispose] };
}

async function ask(baseUrl: string): Promise<string> {
  const askModel = createAskModel({ models: createModelRegistry({ compatible: { baseUrl } }), timeoutMs: 60_000 });
  const messages = [{ role: 'user' as const, content: 'Is it done?' }];
  const { signal } = new AbortController();
  return (await askModel({ model: 'compatible/any', system: '', messages, toolset: {}, signal })).response.text;
}

it('asks models through the proxy of the environment, and connects to checked addresses directly', async () => {
  await using model = await startModel();
  await using proxy = await startProxy(model.port);
  const address = `http://docket:p%40ss@127.0.0.1:${proxy.port}`;
  onTestFinished(useProxies({ http: address, https: address, exceptions: 'direct.invalid' }));
  expect(await ask('http://model.invalid/v1')).toBe('Yes.');
  expect(proxy.asked).toEqual(['model.invalid:80']);
  expect(await ask(`http://127.0.0.1:${model.port}/v1`)).toBe('Yes.');
  await expect(ask('http://direct.invalid/v1')).rejects.toThrow('The model call failed.');
  const resolve: Resolve = (_, done) => done(null, [{ address: '127.0.0.1', family: 4 }]);
  const egress = createEgress({ privateHosts: ['forge.invalid'], resolve });
  expect((await egress.fetch(`http://forge.invalid:${model.port}`)).status).toBe(200);
  expect(proxy.asked).toEqual(['model.invalid:80']);
});

it('starts processes with the proxy of their environment', { tags: 'slow' }, async () => {
  await using model = await startModel();
  await using proxy = await startProxy(model.port);
  await using database = await createTestDatabase();
  const { site, assistantKey } = await buildIndexedSite(database.pool);
  await using api = startApi({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    DOCKET_ASSISTANT_MODEL: 'compatible/any',
    OPENAI_COMPATIBLE_BASE_URL: 'http://model.invalid/v1',
    HTTP_PROXY: `docket:p%40ss@127.0.0.1:${proxy.port}`,
  });
  const { port } = await api.logged('api ready');
  await fetch(`http://127.0.0.1:${String(port)}/discovery/v2/assistant/${site.domain}/message`, {
    method: 'POST',
    headers: { authorization: `Bearer ${assistantKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ fp: 'a', messages: [{ id: '1', role: 'user', parts: [{ type: 'text', text: 'keys?' }] }] }),
  }).then((response) => response.text());
  expect(proxy.asked).toEqual(['model.invalid:80']);
});

it('reports what a proxy answers, without its password', async () => {
  await using model = await startModel();
  await using proxy = await startProxy(model.port);
  const address = `http://docket:Zk4vQ9@127.0.0.1:${proxy.port}`;
  onTestFinished(useProxies({ http: address, https: address, exceptions: '' }));
  const failure = await ask('http://model.invalid/v1').catch((error: unknown) => error);
  expect(verdictOfModelFailure(failure as ModelCallError).message).toBe('The model provider could not be reached.');
  const logged = inspect(failure, { depth: Infinity });
  expect(logged).toContain('407');
  expect(logged).not.toContain('Zk4vQ9');
});
