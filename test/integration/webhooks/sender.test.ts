import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createWebhookSender, WebhookSendError } from '../../../activities/network/webhook-sender.ts';
import { createPublicLookup, PrivateAddressError, type Resolve } from '../../../lib/network/public-lookup.ts';
import { answerWith, startReceiver } from './receiver.ts';

const request = (url: string, signal = new AbortController().signal) => ({ url, headers: {}, body: '{}', signal });
const resolveTo =
  (...addresses: string[]): Resolve =>
  (_hostname, done) =>
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );

/** Counts connections; none may arrive. */
async function startTrap() {
  let connections = 0;
  const server = createTcpServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

async function refusal(sent: Promise<unknown>): Promise<string> {
  const error = await sent.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebhookSendError);
  return (error as Error).message;
}

describe('the webhook sender', () => {
  it.each([
    ['127.0.0.1'],
    ['10.0.0.7'],
    ['169.254.169.254'],
    ['::1'],
    ['::ffff:127.0.0.1'],
    ['fe80::1'],
    ['93.184.216.34', '127.0.0.1'],
  ])('refuses a name that resolves to %s', async (...addresses) => {
    await using trap = await startTrap();
    const sender = createWebhookSender({ allowedHosts: [], resolve: resolveTo(...addresses) });
    const message = await refusal(sender.send(request(`https://hooks.example.com:${trap.port}/`)));
    expect(message).toContain('private address');
    expect(message).not.toContain(addresses.at(-1));
    expect(trap.connections()).toBe(0);
  });

  it('resolves the address on every connection: a public name rebound to a private address leads nowhere', async () => {
    await using receiver = await startReceiver();
    const addresses = ['1.1.1.1', '127.0.0.1'];
    const lookup = createPublicLookup((_hostname, done) => done(null, [{ address: addresses.shift()!, family: 4 }]));
    const ask = () =>
      new Promise((resolve) => {
        lookup('rebound.example.com', { all: true }, (error, found) => resolve(error ?? found));
      });
    expect(await ask()).toEqual([{ address: '1.1.1.1', family: 4 }]);
    expect(await ask()).toBeInstanceOf(PrivateAddressError);

    let asked = 0;
    const resolve: Resolve = (_hostname, done) => {
      asked += 1;
      done(null, [{ address: '127.0.0.1', family: 4 }]);
    };
    const sender = createWebhookSender({ allowedHosts: [], resolve });
    const url = `https://rebound.example.com:${new URL(receiver.url).port}/`;
    for (const count of [1, 2]) {
      expect(await refusal(sender.send(request(url)))).toContain('private address');
      expect(asked).toBe(count);
    }
    expect(receiver.received).toEqual([]);
  });

  it('refuses a literal private address, whatever was allowed when it was stored', async () => {
    await using trap = await startTrap();
    const sender = createWebhookSender({ allowedHosts: [] });
    for (const host of ['127.0.0.1', '[::ffff:127.0.0.1]', '0x7f.1']) {
      expect(await refusal(sender.send(request(`https://${host}:${trap.port}/`)))).toContain('private address');
    }
    expect(await refusal(sender.send(request(`http://127.0.0.1:${trap.port}/`)))).toContain('https');
    expect(trap.connections()).toBe(0);
  });

  it('reports why there was no answer, in a sentence without addresses', async () => {
    await using trap = await startTrap();
    const allowedHosts = ['127.0.0.1'];
    const sender = createWebhookSender({ allowedHosts });
    expect(await refusal(sender.send(request(`http://127.0.0.1:${trap.port}/`)))).toMatch(/^The connection .* failed/);
    expect(await refusal(sender.send(request('http://127.0.0.1:1/')))).toBe('The receiver refused the connection.');
    const lost = createWebhookSender({
      allowedHosts,
      resolve: (_hostname, done) => done(Object.assign(new Error('no'), { code: 'ENOTFOUND' }), []),
    });
    expect(await refusal(lost.send(request('https://nowhere.example.com/')))).toContain('could not be resolved');
  });

  it('reads the status as soon as it arrives, the beginning of the body and no more', async () => {
    await using receiver = await startReceiver();
    const sender = createWebhookSender({ allowedHosts: [receiver.host], timeoutMs: 3_000 });
    let isClosed = false;
    receiver.answers.push((response) => {
      response.on('close', () => (isClosed = true));
      const piece = Buffer.alloc(64 * 1024, 'a');
      const more = () => {
        while (!response.destroyed && response.write(piece));
      };
      response.writeHead(200).on('drain', more);
      more();
    });
    const answer = await sender.send(request(receiver.url));
    expect(answer).toMatchObject({ statusCode: 200, text: 'a'.repeat(16 * 1024) });
    receiver.answers.push((response) => response.writeHead(202).flushHeaders());
    expect(await sender.send(request(receiver.url))).toMatchObject({ statusCode: 202, text: '' });
    receiver.answers.push(answerWith(200));
    await sender.send(request(receiver.url));
    await expect.poll(() => isClosed).toBe(true);
  });

  it('stops when it is aborted', async () => {
    await using receiver = await startReceiver();
    const sender = createWebhookSender({ allowedHosts: [receiver.host] });
    const stop = new AbortController();
    receiver.answers.push(() => stop.abort(new Error('stopped')));
    await expect(sender.send(request(receiver.url, stop.signal))).rejects.toThrow('stopped');
  });

  it('sends a body with its Content-Length', async () => {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const server = createServer((incoming, response) => {
      resolve(incoming.headers['content-length']);
      response.end();
    });
    await new Promise<void>((done) => {
      server.listen(0, '127.0.0.1', done);
    });
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    await createWebhookSender({ allowedHosts: ['127.0.0.1'] }).send({ ...request(url), body: '"ü"' });
    expect(await promise).toBe('4');
    await new Promise((done) => server.close(done));
  });
});
