import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answerOf, createApi } from '../../../../cli/http/api.ts';
import { followJob } from '../../../../cli/http/events.ts';

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    baseUrl,
    api: createApi({ baseUrl, key: 'svc_x' }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a server that the address was not meant for', () => {
  it.each([301, 302, 307, 308])('gets nothing of what a server that redirects was told (%i)', async (status) => {
    let asked = 0;
    await using elsewhere = await serve((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    await using server = await serve((_request, response) =>
      response.writeHead(status, { location: `${elsewhere.baseUrl}/v1/keys` }).end(),
    );
    await expect(answerOf(server.api.POST('/v1/keys', { body: { kind: 'admin', name: 'x' } }))).rejects.toThrow(
      `The server redirects to ${elsewhere.baseUrl}/v1/keys. If Docket is there, name that address`,
    );
    expect(asked).toBe(0);
  });

  it.each(['<html>', 'null', '5'])('is named as such when it answers %s', async (body) => {
    await using server = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    await expect(answerOf(server.api.GET('/v1/keys'))).rejects.toThrow('The server did not answer as Docket does.');
  });

  it.each(['nonsense', '{"seq":"1"}'])('is named as such when it sends the event %s', async (data) => {
    await using server = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${data}\n\n`),
    );
    await expect(followJob(server.api, { projectId: 'p', id: 'j' }, { onLost: () => {} }).next()).rejects.toThrow(
      'The server did not answer as Docket does.',
    );
  });

  it('is given a pause when it ends each stream of events at once', async () => {
    const askedAtMs: number[] = [];
    await using server = await serve((_request, response) => {
      askedAtMs.push(performance.now());
      response.writeHead(askedAtMs.length < 3 ? 200 : 204, { 'content-type': 'text/event-stream' }).end();
    });
    const events = followJob(server.api, { projectId: 'p', id: 'j' }, { onLost: () => {} });
    expect(await events.next()).toMatchObject({ done: true });
    const [first = 0, , third = 0] = askedAtMs;
    expect(third - first).toBeGreaterThanOrEqual(450);
  });
});
