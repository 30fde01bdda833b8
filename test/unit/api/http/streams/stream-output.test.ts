import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { createStreamOutput } from '../../../../../api/http/streams/stream-output.ts';

/** A server that exposes the response of its one request, and the raw socket of its client. */
async function connected(header = ''): Promise<{ response: ServerResponse; client: Socket }> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => {});
  client.write(`GET / HTTP/1.1\r\nHost: x\r\n${header}\r\n`);
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse];
  onTestFinished(() => {
    client.destroy();
    server.closeAllConnections();
    server.close();
  });
  return { response, client };
}

const options = { keepAlive: '\n', keepAliveMs: 10_000 };

it('writes once what one turn of the event loop queues', async () => {
  const { response, client } = await connected();
  client.resume();
  const writes: string[] = [];
  const write = response.write.bind(response) as (text: string) => boolean;
  response.write = ((text: string) => {
    writes.push(text);
    return write(text);
  }) as typeof response.write;
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  output.write('b');
  await turn();
  await turn();
  output.write('c');
  expect(await output.end()).toBe(true);
  expect(writes).toEqual(['ab', 'c']);
});

it('sends a keep-alive while nothing else is sent', async () => {
  const { response, client } = await connected();
  createStreamOutput({ response, ...options, keepAliveMs: 10 });
  let received = '';
  for await (const chunk of client) {
    received += String(chunk);
    if (received.endsWith('\r\n1\r\n\n\r\n')) break;
  }
  expect(received).toContain('\r\n1\r\n\n\r\n');
});

it('reports a slow reader, and writes nothing more until it catches up', async () => {
  const { response, client } = await connected();
  client.pause();
  const output = createStreamOutput({ response, ...options, keepAliveMs: 5 });
  while (output.blocked() === null) {
    output.write('x'.repeat(1_000_000));
    await turn();
    await turn();
  }
  const socket = response.socket!;
  const writtenBefore = socket.bytesWritten;
  output.write('end');
  await sleep(50);
  expect(socket.bytesWritten).toBe(writtenBefore);
  client.resume();
  await output.blocked();
  expect(output.gone.aborted).toBe(false);
  expect(await output.end()).toBe(true);
  expect(socket.bytesWritten).toBeGreaterThan(writtenBefore);
});

it('ends as soon as the reader leaves, and accepts nothing more', async () => {
  const { response, client } = await connected();
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  const gone = once(output.gone, 'abort');
  client.destroy();
  await gone;
  output.write('b');
  expect(await output.end()).toBe(false);
});

it('ends at once if the reader left before, and blocks nothing', async () => {
  const { response, client } = await connected();
  const closed = once(response, 'close');
  client.destroy();
  await closed;
  const output = createStreamOutput({ response, ...options });
  expect(output.gone.aborted).toBe(true);
  output.write('a');
  await turn();
  await turn();
  expect(output.blocked()).toBeNull();
  expect(await output.end()).toBe(false);
  expect(await output.outlived(10_000)).toBe(false);
});

it('treats a connection that stays open as one that delivered everything', async () => {
  const { response, client } = await connected();
  client.resume();
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  expect(await output.end()).toBe(true);
  expect(await output.outlived(10)).toBe(true);
});

it('treats a connection closed right after the end as cut', async () => {
  const { response, client } = await connected();
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  expect(await output.end()).toBe(true);
  const outlived = output.outlived(10_000);
  client.destroy();
  expect(await outlived).toBe(false);
  expect(await output.outlived(10_000)).toBe(false);
});

it('notices a cut first if the event loop was busy for longer than the wait', async () => {
  const { response, client } = await connected();
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  expect(await output.end()).toBe(true);
  const outlived = output.outlived(20);
  client.destroy();
  const until = performance.now() + 100;
  while (performance.now() < until);
  expect(await outlived).toBe(false);
});

it('draws no conclusion from a connection that this side closes', async () => {
  const { response, client } = await connected('Connection: close\r\n');
  client.resume();
  const output = createStreamOutput({ response, ...options });
  output.write('a');
  expect(await output.end()).toBe(true);
  expect(await output.outlived(10_000)).toBe(true);
});
