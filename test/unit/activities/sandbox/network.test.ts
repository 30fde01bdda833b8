import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { isRunHost, noAnswerCode, offlineShell, onlineShell } from '../../../../activities/sandbox/network.ts';
import { parseRunHosts } from '../../../../lib/inputs/run-hosts.ts';

it('parses host names, with and without a port', () => {
  const parsed = parseRunHosts(' registry.npmjs.org, Proxy.Golang.org:443 ,,registry.npmjs.org');
  expect(parsed).toEqual({ ok: true, hosts: ['registry.npmjs.org', 'proxy.golang.org:443'] });
  expect(parseRunHosts('')).toEqual({ ok: true, hosts: [] });
});

it.each([
  '*.npmjs.org',
  'https://npmjs.org',
  'npmjs.org/path',
  'a b',
  'user@host',
  '127.0.0.1',
  '0x7f.1',
  '2130706433',
  '[::1]',
  'host:0',
  'host:99999',
  'host:',
  '-host',
  'ⓛocalhost',
])('refuses %s, which is not a host name', (text) => {
  expect(parseRunHosts(`good.test,${text}`)).toMatchObject({ ok: false });
});

it('opens the ports of HTTP and HTTPS, and another one if it is given', () => {
  const hosts = ['npm.test', 'own.test:4873'];
  const open = (host: string, ...ports: number[]) => ports.filter((port) => isRunHost(hosts, host, port));
  expect(open('npm.test', 22, 80, 443, 8080)).toEqual([80, 443]);
  expect(open('own.test', 22, 80, 443, 4873)).toEqual([4873]);
  expect(open('evil.test', 22, 80, 443, 4873)).toEqual([]);
});

/** Lets the proxy listen at any port: outside of a sandbox, its own may be taken. */
const anyPort = `data:text/javascript,import { Server } from 'node:net';
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...more) { return listen.call(this, 0, ...more); };`;

it.each([
  ['offline', 'answers', { code: 0, output: 'started\n' }],
  ['online', 'answers', { code: 0, output: 'started\n' }],
  ['offline', 'does not answer', { code: noAnswerCode, output: '' }],
  ['online', 'does not answer', { code: noAnswerCode, output: '' }],
])('an %s command whose parent %s ends as expected', async (kind, does, expected) => {
  const shell = { fd: 9, script: 'eval "$1"', command: 'echo started' };
  const node = [process.execPath, '--import', anyPort];
  const words = kind === 'offline' ? offlineShell(shell) : onlineShell({ ...shell, node });
  const stdio = Array.from({ length: 10 }, (_, at): 'ipc' | 'pipe' | 'ignore' =>
    at === 9 ? 'ipc' : at === 1 ? 'pipe' : 'ignore',
  );
  const child = spawn('/bin/sh', words, { stdio });
  const asked = once(child, 'message').then(([, server]) => {
    if (server instanceof Server) server.close();
    if (does === 'answers') child.send('start');
    else child.disconnect();
  });
  // a channel that this side has closed lets no close event come
  const [[code], output] = await Promise.all([once(child, 'exit'), text(child.stdout!), asked]);
  expect({ code, output }).toEqual(expected);
});
