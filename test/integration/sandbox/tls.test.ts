import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { accountsWithSandbox, openTestSandbox, type TestSandbox } from '../../support/sandbox/sandbox.ts';
import {
  createTestAuthority,
  hasOpenssl,
  type Certificate,
  type TestAuthority,
} from '../../support/servers/test-authority.ts';

const { accounts } = await accountsWithSandbox();
const canRun = accounts.length > 0 && hasOpenssl;

const body = randomBytes(3_000_000);
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
let authority: TestAuthority;
const seen: { path: string; name: string | false; protocol: string | null; digest: string }[] = [];
const servers: Server[] = [];

/** Answers with the body, and what it was sent is kept as its digest. */
async function startServer(certificate: Certificate): Promise<number> {
  const server = createServer(certificate, (request, response) => {
    const socket = request.socket as TLSSocket;
    const digest = createHash('sha256');
    request
      .on('data', (piece: Buffer) => void digest.update(piece))
      .on('end', () => {
        const { url: path = '' } = request;
        seen.push({
          path,
          name: socket.servername ?? false,
          protocol: socket.getProtocol(),
          digest: digest.digest('hex'),
        });
        response.end(body);
      });
  }).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

const ports = { good: 0, otherName: 0, otherAuthority: 0, unlisted: 0 };
beforeAll(async () => {
  if (!canRun) return;
  const stranger = await createTestAuthority();
  authority = await createTestAuthority();
  const own = await authority.issue('localhost');
  ports.good = await startServer(own);
  ports.unlisted = await startServer(own);
  ports.otherName = await startServer(await authority.issue('other.test'));
  ports.otherAuthority = await startServer(await stranger.issue('localhost'));
});
afterAll(() => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});
beforeEach(() => void seen.splice(0));

// localhost is the sandbox's own, and programs do not use the proxy for it unless configured otherwise
const curl = `curl --silent --show-error --max-time 60 --noproxy '' --cacert authority.pem`;
const node = (script: string) => `NODE_EXTRA_CA_CERTS=authority.pem NO_PROXY= no_proxy= node -e '${script}'`;

describe.runIf(canRun).each(accounts)('TLS from a sandbox with hosts, as %s,', (account) => {
  let sandbox: TestSandbox;
  beforeAll(async () => {
    const hosts = [ports.good, ports.otherName, ports.otherAuthority].map((port) => `localhost:${port}`);
    sandbox = await openTestSandbox(account, { network: { hosts, privateHosts: ['localhost'] } });
    await writeFile(join(sandbox.tree, 'authority.pem'), authority.certificate);
    await chmod(join(sandbox.tree, 'authority.pem'), 0o644);
    await writeFile(join(sandbox.tree, 'upload'), body);
    await chmod(join(sandbox.tree, 'upload'), 0o644);
  });
  afterAll(() => sandbox[Symbol.asyncDispose]());

  it('ends at the host itself, whose certificate is checked, and carries bodies both ways', async () => {
    const said = await sandbox.output(
      `${curl} --data-binary @upload -w '%{ssl_verify_result} %{http_connect} %{http_code}\\n' -o answer https://localhost:${ports.good}/curl && sha256sum < answer`,
    );
    expect(said).toBe(`0 200 200\n${sha256(body)}  -\n`);
    expect(seen).toEqual([{ path: '/curl', name: 'localhost', protocol: 'TLSv1.3', digest: sha256(body) }]);
  });

  it('works with Node’s own fetch and https, which follow the environment', async () => {
    const address = `https://localhost:${ports.good}`;
    const byFetch = `fetch("${address}/fetch").then((r) => r.bytes()).then((b) => console.log(b.length))`;
    const byHttps = `require("https").get("${address}/https", (r) => { const { authorized } = r.socket; let n = 0; r.on("data", (b) => n += b.length).on("end", () => console.log(n, authorized)); })`;
    expect(await sandbox.output(node(byFetch))).toBe(`${body.length}\n`);
    expect(await sandbox.output(node(byHttps))).toBe(`${body.length} true\n`);
    expect(seen.map(({ path }) => path)).toEqual(['/fetch', '/https']);
  });

  it.each([
    ['of another host', () => ports.otherName, 'ERR_TLS_CERT_ALTNAME_INVALID'],
    ['of an authority that the command does not know', () => ports.otherAuthority, /UNABLE_TO_VERIFY|SELF_SIGNED/],
  ])('fails with a certificate %s', async (_which, port, code) => {
    const address = `https://localhost:${port()}/`;
    const end = await sandbox.run(`${curl} ${address}`);
    expect([end.exitCode, end.notes]).toEqual([60, []]);
    const script = `fetch("${address}").catch((e) => console.log(e.cause.code))`;
    expect(await sandbox.output(node(script))).toMatch(code);
    expect(seen).toEqual([]);
  });

  it(
    'is verified with the worker’s certificate authorities, whatever program opens it',
    { tags: ['slow'] },
    async () => {
      const network = { hosts: [`localhost:${ports.good}`], privateHosts: ['localhost'] };
      await using trusting = await openTestSandbox(account, { network, authorities: authority.certificate });
      const address = `https://localhost:${ports.good}`;
      const fetches = [
        `curl --silent --max-time 60 --noproxy '' -o answer ${address}/curl`,
        `NO_PROXY= no_proxy= node -e 'fetch("${address}/node").then((r) => r.bytes())'`,
        `NO_PROXY= no_proxy= git ls-remote ${address}/git 2>&1 | grep -v certificate`,
        `! command -v python3 > /dev/null || NO_PROXY= no_proxy= python3 -c 'import urllib.request as u; u.urlopen("${address}/python")'`,
      ];
      for (const fetch of fetches) expect(await trusting.run(fetch)).toMatchObject({ exitCode: 0 });
      expect(seen.map(({ path }) => path.split('/')[1])).toEqual(expect.arrayContaining(['curl', 'node', 'git']));
      await trusting.output('echo x > "$SSL_CERT_FILE"', 1);
      for (const fetch of fetches.slice(0, 2)) expect((await sandbox.run(fetch)).exitCode).not.toBe(0);
    },
  );

  it('is refused for an unlisted host or port, with an error for the model', async () => {
    for (const place of [`localhost:${ports.unlisted}`, `127.0.0.1:${ports.good}`]) {
      const end = await sandbox.run(`${curl} --insecure -w '%{http_connect}' https://${place}/`);
      expect(end.exitCode).toBe(56);
      expect(end.output.head.toString()).toContain('403');
      expect(end.notes).toEqual([expect.stringContaining(`The network does not reach ${place}:`)]);
    }
    expect(seen).toEqual([]);
  });
});
