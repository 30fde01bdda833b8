import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage, type Server } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Resolve } from '../../../../lib/network/public-lookup.ts';
import {
  type OpenSandbox,
  type TestNetwork,
  type TestAccount,
  type TestSandbox,
} from '../../../support/sandbox/sandbox.ts';

const curl = 'curl --silent --show-error --max-time 20';
const connectTo = (host: string, at: number) =>
  `node -e 'require("net").connect(${at}, "${host}").on("connect", () => console.log("connected")).on("error", (e) => console.log(e.code))'`;

/** Tests what a command with hosts can reach. */
export function networkCases(account: TestAccount, openSandbox: OpenSandbox): void {
  let server: Server;
  let port: number;
  const seen: Pick<IncomingMessage, 'method' | 'url' | 'headers'>[] = [];

  beforeAll(async () => {
    server = createHttpServer((request, response) => {
      const { method, url, headers } = request;
      seen.push({ method, url, headers });
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => response.end(`answer to ${body}\n`));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => void seen.splice(0));
  let sandbox: TestSandbox;
  beforeAll(async () => {
    const hosts = [`localhost:${port}`, 'reached.invalid'];
    sandbox = await openSandbox({ network: { hosts, privateHosts: [`localhost:${port}`] } });
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it('lets programs reach a listed host, over HTTP and through a tunnel', async () => {
    // localhost is the sandbox's own, and programs do not use the proxy for it unless configured otherwise
    const ask = `${curl} --noproxy '' --data hello`;
    expect(await sandbox.output(`${ask} http://localhost:${port}/a?b=c`)).toBe('answer to hello\n');
    expect(await sandbox.output(`${ask} --proxytunnel http://localhost:${port}/tunnel`)).toBe('answer to hello\n');
    expect(seen.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([
      ['POST', '/a?b=c', `localhost:${port}`],
      ['POST', '/tunnel', `localhost:${port}`],
    ]);
  });

  it('sends nothing to the host but what the command sent', async () => {
    const headers = `-H 'Proxy-Authorization: Basic secret' -H 'Host: other.test' -H 'X-Own: 1' -H 'Connection: X-Hop' -H 'X-Hop: 1'`;
    await sandbox.output(`${curl} --noproxy '' ${headers} http://localhost:${port}/`);
    expect(seen[0]?.headers).toEqual({
      host: `localhost:${port}`,
      'user-agent': expect.stringContaining('curl'),
      accept: '*/*',
      'x-own': '1',
      connection: 'close',
    });
  });

  it('configures Node’s own fetch to use the proxy', async () => {
    const script = `fetch("http://localhost:${port}/node").then((r) => r.text()).then(console.log)`;
    expect(await sandbox.output(`NO_PROXY= no_proxy= node -e '${script}'`)).toBe('answer to \n\n');
    expect(seen.map(({ url }) => url)).toEqual(['/node']);
  });

  it.each([
    ['another host', 'https://example.invalid/', 'example.invalid:443'],
    ['another port of a host', 'https://reached.invalid:22/', 'reached.invalid:22'],
    ['an address', 'http://127.0.0.1:PORT/', '127.0.0.1:PORT'],
    ['an address of the metadata of a cloud', 'http://169.254.169.254/latest', '169.254.169.254:80'],
    ['an address in another spelling', 'http://2130706433:PORT/', '127.0.0.1:PORT'],
    ['an address of IPv6', 'https://[::1]:PORT/', '[::1]:PORT'],
    ['a name that ends like one of the list', 'http://evil-localhost:PORT/', 'evil-localhost:PORT'],
    ['a name that begins like one of the list', 'https://reached.invalid.evil.test/', 'reached.invalid.evil.test:443'],
  ])('refuses %s, and says so', async (_what, address, place) => {
    const [url, named] = [address, place].map((text) => text.replace('PORT', String(port)));
    const end = await sandbox.run(`${curl} --noproxy '' --fail '${url}'`);
    expect(end.exitCode).not.toBe(0);
    expect(end.notes).toEqual([
      `The network does not reach ${named}: commands can reach only localhost:${port}, reached.invalid.`,
    ]);
    expect(seen).toEqual([]);
  });

  it('refuses a tunnel to the ssh port, and a host hidden behind another', async () => {
    const said = (request: string) =>
      sandbox.run(`exec 5<>/dev/tcp/127.0.0.1/3128; printf '${request}\\r\\n\\r\\n' >&5; cat <&5`);
    for (const request of [
      `CONNECT reached.invalid:22 HTTP/1.1\\r\\nHost: reached.invalid`,
      `CONNECT reached.invalid@127.0.0.1:${port} HTTP/1.1\\r\\nHost: reached.invalid`,
      `CONNECT 127.0.0.1:${port} HTTP/1.1\\r\\nHost: localhost:${port}`,
      `GET http://reached.invalid@127.0.0.1:${port}/ HTTP/1.0\\r\\nHost: reached.invalid`,
      `GET http://127.0.0.1:${port}/ HTTP/1.0\\r\\nHost: localhost:${port}`,
      `GET ftp://localhost:${port}/ HTTP/1.0\\r\\nHost: localhost:${port}`,
      `GET / HTTP/1.0\\r\\nHost: localhost:${port}`,
    ]) {
      expect((await said(request)).output.head.toString()).toMatch(/^HTTP\/1\.1 403 /);
    }
    expect(seen).toEqual([]);
  });

  it('has no other way out: no interface but loopback, no raw socket, no name server', async () => {
    expect(await sandbox.output(connectTo('127.0.0.1', port))).toBe('ECONNREFUSED\n');
    expect(await sandbox.output(connectTo('93.184.216.34', 80))).toBe('ENETUNREACH\n');
    expect(await sandbox.output('tail -n +3 /proc/net/dev | cut -d: -f1')).toMatch(/^\s*lo\n$/);
    const raw = `perl -e 'use Socket; print socket(my $s, 2, 3, 1) ? "made" : "refused: $!"'`;
    expect(await sandbox.output(raw)).toBe('refused: Operation not permitted');
    expect(await sandbox.output(`getent hosts reached.invalid || echo unknown`)).toBe('unknown\n');
  });

  it('retains nothing of its setup: no channel, no other process', async () => {
    const open = await sandbox.output('for f in /proc/self/fd/*; do readlink $f; done; true');
    expect(open.replaceAll(/^\/proc\/.*\n|^\S*\/output-[\da-f-]+ \(deleted\)\n|^\/dev\/null\n/gm, '')).toBe('');
    expect(await sandbox.output('echo $#; env | grep CHANNEL; ls /proc | grep -c "^[0-9]"')).toMatch(/^1\n[345]\n$/);
  });

  it('ends connections with the command', { tags: 'slow' }, async () => {
    let isEnded: () => void;
    const ended = new Promise<void>((resolve) => (isEnded = resolve));
    const hanging = createServer((socket) => {
      socket.on('error', () => undefined).on('close', () => isEnded());
      socket.resume();
    }).listen(0, '127.0.0.1');
    await once(hanging, 'listening');
    const at = (hanging.address() as AddressInfo).port;
    const network: TestNetwork = { hosts: [`localhost:${at}`], privateHosts: ['localhost'] };
    await using own = await openSandbox({ network });
    const end = await own.run(`curl -s --noproxy '' http://localhost:${at}/`, { timeoutMs: 10_000 });
    expect(end.stopped).toBe('timeout');
    await ended;
    hanging.close();
  });

  describe.runIf(account === 'owner')('the names of a network', () => {
    const dnsOf = (...answers: string[]): { resolve: Resolve; asked(): number } => {
      let asked = 0;
      const resolve: Resolve = (_name, done) => {
        const address = answers[Math.min(asked, answers.length - 1)]!;
        asked += 1;
        done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
      };
      return { resolve, asked: () => asked };
    };

    it.each(['127.0.0.1', '10.0.0.1', '169.254.169.254', '192.168.1.1', '::1', '::ffff:127.0.0.1', 'fd00::1'])(
      'are not followed to %s',
      async (address) => {
        const network = { hosts: [`named.test:${port}`], resolve: dnsOf(address).resolve };
        await using sandbox = await openSandbox({ network });
        for (const flags of ['', '--proxytunnel']) {
          const end = await sandbox.run(`${curl} --fail ${flags} http://named.test:${port}/`);
          expect(end.exitCode).not.toBe(0);
          expect(end.notes.join()).toContain(`named.test:${port} (a private address)`);
        }
        expect(seen).toEqual([]);
      },
    );

    it('are resolved once per connection, which goes to the address that was checked', async () => {
      const { resolve, asked } = dnsOf('127.0.0.1', '127.0.0.9');
      const network = { hosts: [`named.test:${port}`], privateHosts: ['named.test'], resolve };
      await using sandbox = await openSandbox({ network });
      expect(await sandbox.output(`${curl} http://named.test:${port}/`)).toBe('answer to \n');
      expect(asked()).toBe(1);
      const later = await sandbox.run(`${curl} --fail http://named.test:${port}/`);
      expect([later.exitCode === 0, asked(), seen.length]).toEqual([false, 2, 1]);
    });
  });
}
