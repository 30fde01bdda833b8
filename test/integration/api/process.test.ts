import { once } from 'node:events';
import { createServer } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../api/http/server.ts';
import { createStreamOutput } from '../../../api/http/streams/stream-output.ts';
import { startApi } from '../../support/stack/api-process.ts';
import { buildJob, buildKey, buildProject, testPepper } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { openLine } from '../../support/servers/line.ts';

describe('the API process', () => {
  it('serves without Temporal, reports that it is ready, and ends cleanly on SIGTERM', { tags: 'slow' }, async () => {
    await using database = await createTestDatabase();
    await using temporal = await openLine({ hostname: '127.0.0.1', port: '1' }, { isCut: true });
    const project = await buildProject(database.pool);
    const job = await buildJob(database.pool, project);
    const { key } = await buildKey(database.pool, project);
    await database.pool.query(
      `insert into answer_holds (organization_id, site_id, day, cost_micros, lost_micros, expires_at)
       values ($1, 'site_1', current_date, 10, 5, now() - interval '1 second')`,
      [project.organizationId],
    );
    await using api = startApi({ DATABASE_URL: database.url, TEMPORAL_ADDRESS: `127.0.0.1:${temporal.port}` });
    const { port } = await api.logged('api ready');
    const base = `http://127.0.0.1:${String(port)}`;
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    expect((await fetch(`${base}/readyz`)).status).toBe(200);
    expect((await fetch(`${base}/v2/agent/${project.id}/job/${job.id}`, { headers })).status).toBe(200);
    const body = JSON.stringify({ prompt: 'a secret prompt' });
    expect((await fetch(`${base}/v2/agent/${project.id}/job`, { method: 'POST', headers, body })).status).toBe(201);

    // the call of a process that was killed is settled
    await expect.poll(async () => (await database.pool.query('select from answer_holds')).rowCount).toBe(0);

    api.child.kill('SIGTERM');
    expect(await api.ended).toBe(0);
    const log = api.lines.join('\n');
    for (const secret of [key, testPepper, 'a secret prompt', database.url]) expect(log).not.toContain(secret);
    // the use of the key was stored at shutdown
    const { rows } = await database.pool.query('select 1 from api_keys where last_used_at is not null');
    expect(rows).toHaveLength(1);
  });

  it('says in one sentence that the port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => void other.close());
    const port = String((other.address() as AddressInfo).port);
    await using api = startApi({ DATABASE_URL: 'postgres://127.0.0.1:1/none', PORT: port });
    expect(await api.ended).toBe(1);
    expect(JSON.parse(api.lines.at(-1) ?? '{}').msg).toContain('The port is in use');
  });

  it('names what is missing in its configuration', async () => {
    await using api = startApi({ DOCKET_KEY_PEPPER: '' });
    expect(await api.ended).toBe(1);
    expect(api.lines).toHaveLength(1);
    expect(JSON.parse(api.lines[0] ?? '{}').msg).toMatch(/DATABASE_URL is missing.*DOCKET_KEY_PEPPER is missing/);
  });
});

describe('createHttpServer', () => {
  const large = Buffer.alloc(30_000_000, 'x');
  const stalledMs = 400;
  const shapes: [name: string, answer: (response: ServerResponse) => unknown][] = [
    ['one write', (response) => response.end(large)],
    ['a text', (response) => response.end(large.toString())],
    ['a stream', (response) => pipeline(Readable.from(slicesOf(large)), response).catch(() => undefined)],
    [
      'events that never end',
      (response) => {
        const output = createStreamOutput({ response, keepAlive: ':\n\n', keepAliveMs: 50 });
        const timer = setInterval(() => output.write('x'.repeat(100_000)), 5);
        output.gone.addEventListener('abort', () => clearInterval(timer));
      },
    ],
  ];

  it.each(shapes)('disconnects a reader that stops reading %s, and frees its resources', async (_, answer) => {
    const closed = Promise.withResolvers<void>();
    const http = createHttpServer(
      (_, response) => {
        response.on('close', () => closed.resolve());
        answer(response);
      },
      { stalledMs },
    );
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    socket.on('error', () => undefined).pause();
    await closed.promise;
    socket.destroy();
    await http.close(0);
  });

  it('leaves alone a slow reader that keeps reading, and one whose answer takes long', { tags: 'slow' }, async () => {
    // longer than a busy machine suspends this process, whose timers are checked before its sockets are read
    const patientMs = 2_500;
    const http = createHttpServer(
      async (request, response) => {
        if (request.url === '/late') await sleep(2 * patientMs);
        response.end(large);
      },
      { stalledMs: patientMs },
    );
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    expect((await (await fetch(`http://127.0.0.1:${port}/late`)).arrayBuffer()).byteLength).toBe(large.length);
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n'));
    const startedMs = performance.now();
    let received = 0;
    for await (const chunk of socket) {
      received += chunk.length;
      // for twice as long as a reader may stop reading
      if (performance.now() - startedMs < 2 * patientMs) await sleep(5);
      if (received >= large.length) break;
    }
    expect(received).toBeGreaterThan(large.length);
    await http.close(0);
  });

  it('disconnects a client that stops in the middle of its body', { timeout: 30_000 }, async () => {
    const http = createHttpServer((request) => void request.resume(), { stalledMs });
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head}half`));
    socket.on('error', () => undefined).resume();
    await once(socket, 'close');
    await http.close(0);
  });

  it('waits for a large body on a slow line', { tags: 'slow', timeout: 60_000 }, async () => {
    const http = createHttpServer(async (request, response) => void response.end(await text(request)));
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    const body = 'a long message';
    const socket = connect(port, '127.0.0.1');
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`);
    const answer = text(socket);
    for (const letter of body) {
      await sleep(1_250);
      socket.write(letter);
    }
    expect(await answer).toMatch(/^HTTP\/1\.1 200 [^]*a long message$/);
    await http.close(0);
  });

  it('ends a client that never finishes its headers, with a JSON error', { tags: 'slow' }, async () => {
    const http = createHttpServer((_, response) => void response.end());
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    const socket = connect(port, '127.0.0.1', () => socket.write('GET / HTTP/1.1\r\nHost: x\r\nX-Slow'));
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 408 [\s\S]*\{"error":"The request did not arrive in time\."\}$/);
    await http.close(0);
  });

  it('lets an open answer end before it closes, and cuts one that never ends', async () => {
    const answers: ServerResponse[] = [];
    const http = createHttpServer((_, response) => {
      response.write('begin ');
      answers.push(response);
    });
    const port = await http.listen({ host: '127.0.0.1', port: 0 });
    const open = await fetch(`http://127.0.0.1:${port}/`);
    const closing = http.close(60_000);
    await expect(fetch(`http://127.0.0.1:${port}/`)).rejects.toThrow('fetch failed');
    answers[0]?.end('end');
    expect(await open.text()).toBe('begin end');
    await closing;

    const second = createHttpServer((_, response) => void response.write('begin '));
    const secondPort = await second.listen({ host: '127.0.0.1', port: 0 });
    const endless = await fetch(`http://127.0.0.1:${secondPort}/`);
    await second.close(50);
    await expect(endless.text()).rejects.toThrow(/terminated|aborted|closed/);
  });
});

function* slicesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += 65_536) yield bytes.subarray(at, at + 65_536);
}
