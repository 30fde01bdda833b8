import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { createEgress, type Egress } from '../../../lib/network/egress.ts';
import { serveProxy, type CommandProxy, type ProxyLimits } from '../../../activities/sandbox/proxy.ts';

const usual: ProxyLimits = { connections: 64, bytes: 2 ** 30, connectMs: 15_000, idleMs: 120_000 };

let open = new DisposableStack();
afterEach(() => {
  open.dispose();
  open = new DisposableStack();
});

async function listening(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.defer(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** A host with a scripted handler per connection; `all` are the accepted connections and how each ended. */
async function startHost(serve: (socket: Socket) => void = () => undefined) {
  const all: Socket[] = [];
  const closed: Promise<unknown>[] = [];
  const server = createServer((socket) => {
    all.push(socket);
    closed.push(new Promise((resolve) => void socket.once('close', resolve)));
    socket.on('error', () => undefined).resume();
    serve(socket);
  });
  const port = await listening(server);
  open.defer(() => all.forEach((socket) => void socket.destroy()));
  return { port, all, closed };
}

async function openProxy(hostPort: number, limits: Partial<ProxyLimits>, egress?: Egress) {
  const listener = createServer();
  const port = await listening(listener);
  const network = { hosts: [`localhost:${hostPort}`], egress: egress ?? createEgress({ privateHosts: ['localhost'] }) };
  const proxy: CommandProxy = open.use(serveProxy(listener, network, { ...usual, ...limits }));
  return { proxy, client: () => connectTo(port), tunnel: () => tunnelTo(port, hostPort) };
}

/** A connection to the proxy, with all that came back. */
function connectTo(port: number) {
  const socket = connect({ port, host: '127.0.0.1' });
  open.defer(() => void socket.destroy());
  let text = '';
  const waiting: (() => void)[] = [];
  socket
    .on('error', () => undefined)
    .on('data', (piece) => {
      text += piece.toString('latin1');
      for (const look of waiting) look();
    });
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  return {
    socket,
    closed,
    text: () => text,
    until: (isThere: (text: string) => boolean) =>
      new Promise<void>((resolve) => {
        const look = () => void (isThere(text) && resolve());
        waiting.push(look);
        look();
      }),
  };
}

async function tunnelTo(port: number, hostPort: number) {
  const client = connectTo(port);
  client.socket.write(`CONNECT localhost:${hostPort} HTTP/1.1\r\n\r\n`);
  await client.until((text) => text.startsWith('HTTP/1.1 200 '));
  return client;
}

/** Sends the same bytes endlessly, as fast as they are read. */
function endlessly(socket: Socket): void {
  const piece = Buffer.alloc(64 * 1024, 'x');
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

it('accepts a limited number of connections at once, closes those beyond, and says so', async () => {
  const host = await startHost();
  const { proxy, client, tunnel } = await openProxy(host.port, { connections: 3 });
  const first = [await tunnel(), await tunnel(), await tunnel()];
  await client().closed;
  expect(host.all).toHaveLength(3);
  expect(proxy.notes()).toEqual([expect.stringContaining('no more than 3')]);
  first[0]!.socket.destroy();
  await host.closed[0];
  // the slot of an ended connection is free again; the proxy may notice the end a moment later than the host
  for (;;) {
    const next = client();
    next.socket.write(`CONNECT localhost:${host.port} HTTP/1.1\r\n\r\n`);
    if (
      await Promise.race([next.until((text) => text.includes(' 200 ')).then(() => true), next.closed.then(() => false)])
    )
      break;
  }
  expect(host.all).toHaveLength(4);
});

it('opens no more connections to hosts than that, however many requests a command sends on one', async () => {
  const host = await startHost();
  const { proxy, client } = await openProxy(host.port, { connections: 3 });
  const { socket, text, closed } = client();
  socket.write(`GET http://localhost:${host.port}/ HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(20));
  while (host.all.length < 3) await new Promise(setImmediate);
  for (const one of host.all) one.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
  await closed;
  expect(text().match(/HTTP\/1\.1 \d+/g)).toEqual([...Array(3).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  expect(host.all).toHaveLength(3);
  expect(proxy.notes()).toEqual([expect.stringContaining('no more than 3')]);
});

it.each([
  ['a host says through a tunnel', true, true],
  ['a command says through a tunnel', true, false],
  ['a host answers', false, true],
  ['a command sends in a request', false, false],
])('is closed permanently, and says so, when it is too much that %s', async (_what, isTunnel, isFromHost) => {
  const host = await startHost((socket) => {
    if (!isFromHost) return;
    if (!isTunnel) socket.write('HTTP/1.1 200 OK\r\n\r\n');
    endlessly(socket);
  });
  const { proxy, client, tunnel } = await openProxy(host.port, { bytes: 4_000_000 });
  const one = isTunnel ? await tunnel() : client();
  if (!isTunnel) {
    const [method, length] = isFromHost ? ['GET', ''] : ['POST', `Content-Length: ${1e12}\r\n`];
    one.socket.write(`${method} http://localhost:${host.port}/ HTTP/1.1\r\nHost: localhost\r\n${length}\r\n`);
  }
  if (!isFromHost) endlessly(one.socket);
  await one.closed;
  await host.closed[0];
  await client().closed;
  expect(host.all).toHaveLength(1);
  expect(proxy.notes()).toEqual([expect.stringContaining('exceeded its limit of bytes sent')]);
});

it('counts the traffic of connections that have ended', async () => {
  const host = await startHost((socket) => void socket.end(Buffer.alloc(300_000)));
  const { proxy, client } = await openProxy(host.port, { bytes: 4_000_000 });
  while (proxy.notes().length === 0) {
    const one = client();
    one.socket.write(`CONNECT localhost:${host.port} HTTP/1.1\r\n\r\n`);
    await one.closed;
  }
  // each byte is counted on both sides of the proxy, and on each of them once
  expect(host.all.length).toBeGreaterThan(6);
});

it.each([
  ['says nothing', ''],
  ['ends in the middle of a header', 'GET http://localhost/ HTTP/1.1\r\nHost: loc'],
  [
    'ends in the middle of a body',
    'POST http://localhost:PORT/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx',
  ],
  ['waits for an answer', 'GET http://localhost:PORT/ HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ['is silent in a tunnel', 'CONNECT localhost:PORT HTTP/1.1\r\n\r\n'],
])('ends a connection that %s for too long', async (_which, said) => {
  const host = await startHost();
  const { client } = await openProxy(host.port, { idleMs: 300 });
  const one = client();
  one.socket.write(said.replace('PORT', String(host.port)));
  await one.closed;
  await Promise.all(host.closed);
  expect(host.all).toHaveLength(said.includes('PORT') ? 1 : 0);
});

it('keeps an active connection', { tags: 'slow' }, async () => {
  const host = await startHost((socket) => void socket.on('data', (piece) => socket.write(piece)));
  const idleMs = 4_000;
  const { tunnel } = await openProxy(host.port, { idleMs });
  const { socket, text, until } = await tunnel();
  const begin = text().length;
  const from = performance.now();
  let sent = 0;
  while (performance.now() - from < 1.5 * idleMs) {
    socket.write('x');
    sent += 1;
    await until((all) => all.length === begin + sent);
  }
  expect(socket.destroyed).toBe(false);
});

it('gives up on a host that does not connect in time', async () => {
  const never: Egress['addressesOf'] = (_url, signal) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  const host = await startHost();
  const { client } = await openProxy(host.port, { connectMs: 100 }, { ...createEgress(), addressesOf: never });
  const { socket, until } = client();
  socket.write(`CONNECT localhost:${host.port} HTTP/1.1\r\n\r\n`);
  await until((text) => /^HTTP\/1\.1 502 [\s\S]*cannot be reached/.test(text));
});

it('carries connections without a warning about listeners', async () => {
  const warnings: Error[] = [];
  // other files of this process may leave warnings of other kinds
  const onWarning = (warning: Error) => void (warning.name === 'MaxListenersExceededWarning' && warnings.push(warning));
  process.on('warning', onWarning);
  open.defer(() => void process.off('warning', onWarning));
  const host = await startHost((socket) => void socket.write('from the host'));
  const { tunnel } = await openProxy(host.port, {});
  const tunnels = await Promise.all(Array.from({ length: 3 }, tunnel));
  for (const one of tunnels) {
    await one.until((text) => text.endsWith('from the host'));
    one.socket.end();
    await one.closed;
  }
  expect(warnings).toEqual([]);
});
