import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { createKeyText } from '../../../db/organizations/key-format.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { untilEarlyIn } from '../../support/early-in.ts';
import { openStream } from '../../support/sdk-clients/open-stream.ts';
import { serveApi } from './serve.ts';

/** Sends the beginning, then a byte now and then; returns everything received until the server closes. */
function drip(url: string, beginning: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(Number(port), hostname, () => socket.write(beginning));
    const timer = setInterval(() => socket.write('x'), 500);
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text));
    socket
      .on('error', () => undefined)
      .on('close', () => {
        clearInterval(timer);
        resolve(answer);
      });
  });
}

it(
  'closes connections that send headers or bodies too slowly, and keeps serving others',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    await using api = await serveApi(database.pool);
    const project = await buildProject(database.pool);
    const { key } = await buildKey(database.pool, project);
    const path = `/v2/agent/${project.id}/job`;
    const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\n`;
    const body = `${head}Content-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"prompt":"`;
    const dripping = Promise.all([
      ...Array.from({ length: 100 }, () => drip(api.url, `${head}X-Slow: `)),
      ...Array.from({ length: 100 }, () => drip(api.url, body)),
    ]);
    expect((await api.ask(path, { key, json: { prompt: 'x' } })).status).toBe(201);
    const answers = await dripping;
    // a byte that arrives after the end resets the connection, and an answer that was not read by then is lost
    const read = answers.filter((answer) => answer !== '');
    expect(read.length).toBeGreaterThan(0);
    for (const answer of read) expect(answer).toMatch(/^HTTP\/1\.1 (?:408|400) [\s\S]*\{"error":"[^"]+"\}$/);
    expect((await api.ask(path, { key, json: { prompt: 'x' } })).status).toBe(201);
  },
);

it(
  'counts wrong keys by the address of the connection, whatever X-Forwarded-For says',
  { tags: ['slow'] },
  async () => {
    await using database = await createTestDatabase();
    await using api = await serveApi(database.pool);
    await untilEarlyIn('minute');
    const statuses: number[] = [];
    for (let count = 0; count < 105; count += 1) {
      const headers = { 'x-forwarded-for': `198.51.100.${count}`, forwarded: `for=198.51.100.${count}` };
      statuses.push((await api.ask('/v1/jobs', { key: createKeyText('admin').key, headers })).status);
    }
    expect(statuses.at(-1)).toBe(429);
  },
);

it('limits an organization’s open event streams without affecting others', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool, { DOCKET_MAX_EVENT_STREAMS: '3' });
  const project = await buildProject(database.pool);
  const job = await buildJob(database.pool, project);
  const { key } = await buildKey(database.pool, project);
  const other = await buildKey(database.pool, await buildProject(database.pool));
  const headers = { accept: 'text/event-stream' };
  const events = `/v2/agent/${project.id}/job/${job.id}/events`;
  const open = (path: string, key: string) => openStream(api.url + path, { key, headers });
  const streams = [await open('/v1/jobs/events', key), await open(events, key), await open(events, key)];
  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200]);
  for (const path of ['/v1/jobs/events', events]) {
    const refused = await api.ask(path, { key, headers });
    expect([refused.status, Object.keys(refused.body)]).toEqual([429, ['error']]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect((await api.ask(events, { key, headers: { accept: 'application/json' } })).status).toBe(200);
  const others = await open('/v1/jobs/events', other.key);
  expect(others.status).toBe(200);
  others.leave();
  streams[0]!.leave();
  await expect
    .poll(async () => {
      const again = await open('/v1/jobs/events', key);
      again.leave();
      return again.status;
    })
    .toBe(200);
  for (const stream of streams) stream.leave();
});

it('accepts a prompt of 100,000 characters, and refuses longer, deeper and larger bodies in one sentence', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool);
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const path = `/v2/agent/${project.id}/job`;
  const statusOf = async (request: { json?: unknown; body?: string }) => {
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await api.ask(path, { key, headers, ...request });
    return [status, status < 300 ? [] : Object.keys(body)];
  };
  expect(await statusOf({ json: { prompt: '\u{1f600}'.repeat(50_000) } })).toEqual([201, []]);
  expect(await statusOf({ json: { prompt: 'x'.repeat(100_001) } })).toEqual([400, ['error']]);
  expect(await statusOf({ json: { prompt: 'x'.repeat(9_000_000) } })).toEqual([413, ['error']]);
  expect(await statusOf({ body: '['.repeat(200_000) })).toEqual([400, ['error']]);
  expect(await statusOf({ body: `${'{"a":'.repeat(40)}1${'}'.repeat(40)}` })).toEqual([400, ['error']]);
});
