import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createEgress } from '../../../lib/network/egress.ts';
import { createTestGit } from '../../support/git.ts';
import { createGiteaForge } from '../../../activities/forges/gitea.ts';
import { createGithubForge } from '../../../activities/forges/github.ts';
import { createTokenCredential } from '../../../activities/forges/github-credential.ts';
import { createGitlabForge } from '../../../activities/forges/gitlab.ts';
import type { Resolve } from '../../../lib/network/public-lookup.ts';
import { live } from '../clients/setup.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

let server: Server;
let port: number;
let directory: string;
const seen: (string | undefined)[] = [];

beforeAll(async () => {
  directory = temporaryDirectory();
  server = createServer((request, response) => {
    seen.push(request.headers.host);
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(async () => {
  server.close();
});
beforeEach(() => void seen.splice(0));

/** A DNS server that returns the next address for each query, and the last one from then on. */
function dnsOf(...answers: string[]): { resolve: Resolve; asked: string[] } {
  const asked: string[] = [];
  const resolve: Resolve = (hostname, done) => {
    const address = answers[Math.min(asked.length, answers.length - 1)]!;
    asked.push(hostname);
    done(null, [{ address, family: address.includes(':') ? 6 : 4 }]);
  };
  return { resolve, asked };
}

const listing = (remote: string) => ({
  gitDir: directory,
  args: ['ls-remote', remote],
  transports: ['https', 'http'] as const,
  remote,
  signal: live,
});

describe('the egress of a worker', () => {
  it.each([
    '127.0.0.1',
    '10.1.2.3',
    '169.254.169.254',
    '192.168.0.1',
    '100.64.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.1',
    'fd00::1',
    'fe80::1',
    '64:ff9b::7f00:1',
  ])('refuses a host that resolves to %s, for git and for every forge', async (address) => {
    const egress = createEgress({ resolve: dnsOf(address).resolve });
    const repository = `http://repo.test:${port}/acme/lamp`;
    const git = createTestGit({ home: join(directory, 'home'), transports: ['http'], egress });
    const named = { message: expect.stringMatching(/DOCKET_PRIVATE_HOSTS/) };
    await expect(git.run(listing(repository))).rejects.toMatchObject({ kind: 'not-found', ...named });
    const origin = `http://repo.test:${port}`;
    const credential = createTokenCredential('token-of-the-forge');
    for (const forge of [
      createGiteaForge({ token: 'token-of-the-forge', url: origin, egress }),
      createGitlabForge({ token: 'token-of-the-forge', url: origin, egress }),
      createGithubForge({ credential, apiUrl: `${origin}/api/v3`, egress }),
    ]) {
      const asked = forge.pullRequestState({ repository, id: '1', signal: live });
      await expect(asked).rejects.toMatchObject({ kind: 'not-found', ...named });
    }
    expect(seen).toEqual([]);
  });

  it.each([
    'http://127.0.0.1:PORT/a/b',
    'http://[::1]:PORT/a/b',
    'http://2130706433:PORT/a/b',
    'http://0x7f.1:PORT/a/b',
  ])('refuses the address %s without a DNS lookup', async (template) => {
    const address = template.replace('PORT', String(port));
    const egress = createEgress();
    await expect(egress.fetch(address)).rejects.toThrow(/private/);
    const git = createTestGit({ home: join(directory, 'home'), transports: ['http'], egress });
    await expect(git.run(listing(address))).rejects.toMatchObject({ kind: 'not-found' });
    expect(seen).toEqual([]);
  });

  it('connects git to the address that was checked, whatever the DNS returns later', async () => {
    const { resolve, asked } = dnsOf('127.0.0.1', '127.0.0.9');
    // a name that no other DNS knows: git reaches the server only at the address it was given
    const egress = createEgress({ resolve, privateHosts: [`rebound.invalid:${port}`] });
    const git = createTestGit({ home: join(directory, 'home'), transports: ['http'], egress });
    await git.run(listing(`http://rebound.invalid:${port}/a/b`)).catch(() => null);
    expect(asked).toEqual(['rebound.invalid']);
    expect(new Set(seen)).toEqual(new Set([`rebound.invalid:${port}`]));
  });

  it('reaches an allowed private host, on the allowed port only', async () => {
    const egress = createEgress({ privateHosts: [`127.0.0.1:${port}`] });
    const response = await egress.fetch(`http://127.0.0.1:${port}/`);
    expect(await response.json()).toEqual({ ok: true });
    await expect(egress.fetch(`http://127.0.0.1:${port + 1}/`)).rejects.toThrow(/private/);
  });

  it('follows no redirect and stops reading an endless response', async () => {
    const odd = createServer((request, response) => {
      if (request.url === '/to') return void response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end();
      const piece = Buffer.alloc(1024 * 1024);
      const more = () => void response.write(piece, (error) => (error ? undefined : more()));
      more();
    }).listen(0, '127.0.0.1');
    await once(odd, 'listening');
    try {
      const origin = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`;
      const egress = createEgress({ privateHosts: ['127.0.0.1'] });
      expect((await egress.fetch(`${origin}/to`)).status).toBe(302);
      await expect(egress.fetch(`${origin}/endless`)).rejects.toThrow(/too long/);
      expect(seen).toEqual([]);
    } finally {
      odd.closeAllConnections();
      odd.close();
    }
  });
});
