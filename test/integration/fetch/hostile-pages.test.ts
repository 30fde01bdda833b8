import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import type { Resolve } from '../../../lib/network/public-lookup.ts';
import { endless, page, redirect, startPageServer, type Answer } from '../../support/servers/page-server.ts';
import { fetcherOf } from './scene.ts';

const bomb = gzipSync(Buffer.alloc(200_000_000), { level: 9 });
const gzipped = { 'content-type': 'text/html', 'content-encoding': 'gzip' };
const deep = '<div>'.repeat(100_000);

const pages: [string, Answer, RegExp][] = [
  [
    'redirects to a private address',
    redirect('http://169.254.169.254/latest'),
    /169\.254\.169\.254 is not among the hosts/,
  ],
  ['redirects to a file', redirect('file:///etc/passwd'), /redirects to an address that is no http or https address/],
  ['redirects with a password', redirect('http://a:b@pages.test/'), /has a user name or password/],
  ['redirects forever', redirect('/'), /redirects more than 5 times/],
  ['redirects nowhere', redirect('http://['), /is no http or https address/],
  ['is an image', page(Buffer.from('GIF89a'), 'image/gif'), /is image\/gif; only text can be fetched/],
  ['is a binary file called text', page(Buffer.alloc(100), 'text/plain'), /is not text/],
  ['has an unknown character set', page('x', 'text/plain; charset=x-evil'), /has the character set "x-evil"/],
  ['has an unknown encoding', page('x', 'text/plain', { 'content-encoding': 'zstd' }), /has the encoding "zstd"/],
  ['breaks its encoding', page('not gzip', 'text/plain', { 'content-encoding': 'gzip' }), /could not be read/],
  ['never ends', endless('lorem ipsum '.repeat(1_000)), /has more than 2 MB/],
  ['never ends, in zeros', endless(Buffer.alloc(65_536), { 'content-type': 'text/html' }), /has more than 2 MB/],
  ['expands to 200 MB', page(bomb, 'text/html', gzipped), /has more than 2 MB/],
  ['is nested deeply', page(deep), /is nested too deeply/],
  [
    'breaks off',
    (_request, response) =>
      void response.writeHead(200, { 'content-length': '99' }).write('x', () => response.destroy()),
    /could not be reached, or/,
  ],
  ['closes the connection', (_request, response) => void response.destroy(), /could not be reached, or/],
  [
    'switches protocols',
    (_request, response) => void response.writeHead(101, { connection: 'upgrade', upgrade: 'x' }).end(),
    /could not be reached|status 101/,
  ],
  [
    'is not there',
    (_request, response) => void response.writeHead(404).end('x'.repeat(1_000)),
    /answered with status 404/,
  ],
  [
    'says that nothing has changed',
    (_request, response) => void response.writeHead(304).end(),
    /answered with status 304/,
  ],
];

it.each(pages)('is one sentence for the agent when a page %s', async (_what, answer, problem) => {
  await using server = await startPageServer(answer);
  const output = await fetcherOf({ hosts: [server.host] })(server.url);
  expect(output).toEqual({ isError: true, text: expect.stringMatching(problem) });
  expect(output.text).toMatch(/^[^\n]{1,300}\.$/);
});

it('gives up on a page that arrives byte by byte, and ends with its job', { tags: 'slow' }, async () => {
  await using server = await startPageServer((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' });
    const drip = setInterval(() => response.write('x'), 200);
    response.on('close', () => clearInterval(drip));
  });
  const cancel = new AbortController();
  const [slow, cancelled] = await Promise.allSettled([
    fetcherOf({ hosts: [server.host] })(server.url),
    (async () => {
      const running = fetcherOf({ hosts: [server.host], signal: cancel.signal })(server.url);
      setTimeout(() => cancel.abort(new Error('cancelled')), 1_000);
      return running;
    })(),
  ]);
  expect(slow).toMatchObject({
    value: { isError: true, text: `${server.host} did not send the page within 20 seconds.` },
  });
  expect(cancelled).toMatchObject({ reason: new Error('cancelled') });
});

it('reaches no private address, in whatever way it is named', async () => {
  await using server = await startPageServer(page('inside', 'text/plain'));
  const { port } = server;
  const fetch = fetcherOf({ hosts: [`pages.test:${port}`, `*.pages.test:${port}`], privateHosts: [] });
  for (const name of ['pages.test', 'a.pages.test']) {
    expect((await fetch(`http://${name}:${port}/`)).text).toMatch(/leads to a private address|could not be reached/);
  }
  // a host that commands, MCP servers and repositories may reach, and that the operator allows by a pattern only
  const wild = fetcherOf({ hosts: [`*.pages.test:${port}`], privateHosts: [`a.pages.test:${port}`] });
  expect((await wild(`http://a.pages.test:${port}/`)).text).toMatch(/leads to a private address/);
  expect(server.hits).toEqual([]);
});

it('connects to the address that was checked when the name changes meanwhile', async () => {
  await using server = await startPageServer(page('inside', 'text/plain'));
  const asked: string[] = [];
  const rebinding: Resolve = (name, done) => {
    asked.push(name);
    // public at first, private afterwards
    done(null, [{ address: asked.length === 1 ? '192.0.2.1' : '127.0.0.1', family: 4 }]);
  };
  const output = await fetcherOf({ hosts: [server.host], privateHosts: [], resolve: rebinding })(server.url);
  expect(output.isError).toBe(true);
  expect(asked).toHaveLength(1);
  expect(server.hits).toEqual([]);
});

it('checks a redirect among the allowed hosts for private addresses, too', async () => {
  await using inside = await startPageServer(page('inside', 'text/plain'));
  await using server = await startPageServer(redirect(`http://inside.test:${inside.port}/`));
  const hosts = [server.host, `inside.test:${inside.port}`];
  const output = await fetcherOf({ hosts, privateHosts: [server.host] })(server.url);
  expect(output).toMatchObject({ isError: true, text: expect.stringMatching(/private address/) });
  expect(inside.hits).toEqual([]);
});
