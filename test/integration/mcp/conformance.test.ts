import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request as ask } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { createTestDatabase } from '../../support/database/database.ts';
import { serveApi } from '../api/serve.ts';
import { buildIndexedSite } from '../assistant/site.ts';

const suite = resolve('node_modules/@modelcontextprotocol/conformance/dist/index.js');
const expected = join(import.meta.dirname, 'conformance.yaml');

/** The suite sends no key, so this server adds one to its requests. */
async function startKeyedServer(target: string) {
  let key = '';
  const server = createServer((request, response) => {
    const headers = { ...request.headers, authorization: `Bearer ${key}` };
    const sent = ask(`${target}${request.url}`, { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
  server.listen(0, 'localhost');
  await once(server, 'listening');
  return {
    origin: `http://localhost:${(server.address() as AddressInfo).port}`,
    use: (given: string) => void (key = given),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

it(
  'passes the conformance suite of the protocol, but for what the list beside this test explains',
  { tags: ['slow'], timeout: 240_000 },
  async () => {
    await using database = await createTestDatabase();
    await using api = await serveApi(database.pool);
    await using server = await startKeyedServer(api.url);
    const { site, adminKey } = await buildIndexedSite(database.pool);
    const json = { kind: 'assistant', name: 'suite', allowedOrigins: [server.origin], allowsNoOrigin: true };
    const created = await api.ask('/v1/keys', { key: adminKey, json });
    server.use(created.body.key);
    const args = ['server', '--url', `${server.origin}/mcp/${site.domain}`, '--expected-failures', expected];
    const { code, output } = await new Promise<{ code: unknown; output: string }>((done) =>
      execFile(process.execPath, [suite, ...args], { maxBuffer: 10_000_000, timeout: 180_000 }, (error, out, errors) =>
        done({ code: error?.code ?? 0, output: `${out}${errors}` }),
      ),
    );
    expect(code, output.slice(-5_000)).toBe(0);
    for (const scenario of ['server-initialize', 'ping', 'tools-list', 'resources-list', 'dns-rebinding-protection'])
      expect(output).toMatch(new RegExp(`✓ ${scenario}: [1-9]\\d* passed, 0 failed`));
  },
);
