import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { answerOf, createApi, everyItem, streamOf } from '../../../../cli/http/api.ts';
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

describe('an unintended server', () => {
  it.each([301, 302, 307, 308])('receives nothing that was sent to a redirecting server (%i)', async (status) => {
    let asked = 0;
    await using elsewhere = await serve((_request, response) => {
      asked += 1;
      response.end('{}');
    });
    await using server = await serve((_request, response) =>
      response.writeHead(status, { location: `${elsewhere.baseUrl}/v1/keys` }).end(),
    );
    await expect(answerOf(server.api.POST('/v1/keys', { body: { kind: 'admin', name: 'x' } }))).rejects.toThrow(
      `The server redirects to ${elsewhere.baseUrl}/v1/keys. If Docket is there, use that URL`,
    );
    expect(asked).toBe(0);
  });

  it.each(['<html>', 'null', '5'])('is reported as such when it answers %s', async (body) => {
    await using server = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(body),
    );
    await expect(answerOf(server.api.GET('/v1/keys'))).rejects.toThrow('The response is not from Docket.');
  });

  it('is suspected behind a path under which nothing is found', async () => {
    await using server = await serve((_request, response) =>
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error": "Not found."}'),
    );
    const ask = (baseUrl: string) => answerOf(createApi({ baseUrl, key: 'svc_x' }).GET('/v1/keys'));
    await expect(ask(server.baseUrl)).rejects.toThrow(/^Not found\.$/);
    await expect(ask(`${server.baseUrl}/v2`)).rejects.toThrow(
      `Not found. If Docket is not below the path of ${server.baseUrl}/v2, omit the path (--url, DOCKET_URL).`,
    );
  });

  it.each([
    ['keys', 'application/json', '[', '"xxxxxxxxxx",'],
    ['keys', 'text/event-stream', '[', '"xxxxxxxxxx",'],
    ['events', 'text/event-stream', 'data: ', 'xxxxxxxxxx'],
  ])('is reported as such when %s as %s are endless', { tags: ['slow'] }, async (wanted, type, head, part) => {
    let sent = 0;
    await using server = await serve((_request, response) => {
      response.writeHead(200, { 'content-type': type }).write(head);
      const more = () => {
        while (!response.destroyed && response.write(part.repeat(10_000))) sent += 1;
      };
      response.on('drain', more);
      more();
    });
    const asked =
      wanted === 'keys'
        ? answerOf(server.api.GET('/v1/keys'))
        : followJob(server.api, { projectId: 'p', id: 'j' }, { onLost: () => {} }).next();
    await expect(asked).rejects.toThrow('The response is not from Docket.');
    expect(sent * part.length).toBeLessThan(20_000);
  });

  it('is reported as such when a bundle is too long', async () => {
    const part = new Uint8Array(64 * 1024 * 1024);
    const body = new ReadableStream({
      start(controller) {
        for (let at = 0; at < 80; at += 1) controller.enqueue(part);
        controller.close();
      },
    });
    using fetched = vi.spyOn(globalThis, 'fetch');
    fetched.mockResolvedValue(new Response(body));
    const answer = await createApi({ baseUrl: 'http://x', key: 'svc_x' }).GET('/v2/agent/{projectId}/job/{id}/bundle', {
      params: { path: { projectId: 'p', id: 'j' } },
      headers: { Accept: 'application/gzip' },
      parseAs: 'stream',
    });
    let length = 0;
    const reading = (async () => {
      for await (const { byteLength } of await streamOf(answer)) length += byteLength;
    })();
    await expect(reading).rejects.toThrow('The response is not from Docket.');
    expect(length).toBe(4 * 1024 ** 3);
  });

  it('is reported as such when a list has no last page', async () => {
    const read = () => Promise.resolve({ nextCursor: 'next' });
    await expect(everyItem(read, () => [])).rejects.toThrow('The response is not from Docket.');
  });

  it.each(['nonsense', '{"seq":"1"}'])('is reported as such when it sends the event %s', async (data) => {
    await using server = await serve((_request, response) =>
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(`data: ${data}\n\n`),
    );
    await expect(followJob(server.api, { projectId: 'p', id: 'j' }, { onLost: () => {} }).next()).rejects.toThrow(
      'The response is not from Docket.',
    );
  });

  it('is retried with a delay when it ends each event stream at once', async () => {
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

it('a proxy may end each stream of a silent job after a while: that is no row of failures', async () => {
  let asked = 0;
  let lost = 0;
  await using server = await serve((_request, response) => {
    asked += 1;
    response.writeHead(asked < 4 ? 200 : 204, { 'content-type': 'text/event-stream' });
    if (asked === 4) response.end();
    else response.write(': keep-alive\n\n', () => response.destroy());
  });
  const events = followJob(server.api, { projectId: 'p', id: 'j' }, { onLost: () => (lost += 1) });
  expect(await events.next()).toMatchObject({ done: true });
  expect(lost).toBe(3);
});
