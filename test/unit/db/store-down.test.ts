import { createServer } from 'node:net';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { createPool } from '../../../db/pool.ts';
import { isStoreDown } from '../../../db/store-down.ts';

function errorWith(fields: Record<string, unknown>): Error {
  return Object.assign(new Error('x'), fields);
}

it('treats shutdowns, exhausted servers and broken connections as a store that is down', () => {
  for (const code of [
    '57P01',
    '57P02',
    '57P03',
    '53300',
    '53100',
    '08006',
    '25006',
    '57014',
    'ECONNREFUSED',
    'ECONNRESET',
  ]) {
    expect(isStoreDown(errorWith({ code }))).toBe(true);
  }
  expect(isStoreDown(new Error('wrapped', { cause: errorWith({ code: '57P01' }) }))).toBe(true);
  expect(isStoreDown(new AggregateError([errorWith({ code: 'ECONNREFUSED', syscall: 'connect' })]))).toBe(true);
});

it('treats invalid requests, missing files and anything else as what they are', () => {
  for (const code of ['23505', '22021', '42P01', '28P01', '3D000', '40P01', undefined, 5]) {
    expect(isStoreDown(errorWith({ code }))).toBe(false);
  }
  expect(isStoreDown(errorWith({ code: 'ENOENT', syscall: 'open' }))).toBe(false);
  for (const value of [null, undefined, 'ECONNREFUSED', { code: 'ECONNREFUSED' }])
    expect(isStoreDown(value)).toBe(false);
});

it('recognizes the real errors of a closed port and of a server that never answers', async () => {
  const server = createServer((socket) => void socket.resume());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const options = { maxConnections: 1, applicationName: 'test', connectTimeoutMs: 100 };
  const silent = createPool({ ...options, url: `postgres://x@127.0.0.1:${address.port}/x` });
  const silence: unknown = await silent.query('select 1').catch((error: unknown) => error);
  expect(isStoreDown(silence)).toBe(true);
  await silent.end();
  server.close();
  await once(server, 'close');
  const closed = createPool({ ...options, url: `postgres://x@127.0.0.1:${address.port}/x` });
  const refusal: unknown = await closed.query('select 1').catch((error: unknown) => error);
  expect(isStoreDown(refusal)).toBe(true);
  await closed.end();
});
