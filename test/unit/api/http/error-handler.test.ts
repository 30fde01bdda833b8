import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { AppState } from '../../../../api/http/app-context.ts';
import { jobNotFound, methodNotAllowed, storeUnavailable } from '../../../../api/http/errors.ts';
import { createErrorHandler } from '../../../../api/http/error-handler.ts';
import { createRequestId } from '../../../../api/http/request-id.ts';

class StoreDown extends Error {}

async function ask(error: unknown, headers: Record<string, string> = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) });
  const koa = new Koa<AppState>();
  koa.use(createRequestId());
  koa.use(
    createErrorHandler({ log, refusalOfStore: (thrown) => (thrown instanceof StoreDown ? storeUnavailable() : null) }),
  );
  koa.use((ctx) => {
    ctx.set('Access-Control-Allow-Origin', '*');
    ctx.body = 'half done';
    ctx.respond = false;
    throw error;
  });
  const server = createServer(koa.callback()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  try {
    const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/x`, { headers });
    return { response, body: await response.text(), lines };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

describe('createErrorHandler', () => {
  it('returns exactly one sentence with the status and headers of the error, and keeps earlier headers', async () => {
    const { response, body, lines } = await ask(methodNotAllowed('GET'));
    expect([response.status, body]).toEqual([405, '{"error":"This address accepts GET only."}']);
    expect(response.headers.get('allow')).toBe('GET');
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(lines).toEqual([]);
  });

  it('names the invalid field of a body', async () => {
    const { error } = z.object({ source: z.object({ ref: z.string() }) }).safeParse({ source: { ref: 7 } });
    const { response, body } = await ask(error);
    expect([response.status, body]).toEqual([400, '{"error":"source.ref is missing or not a string."}']);
  });

  it.each([
    ['a number', z.number().max(5), 7, 'at most 5'],
    ['a whole number', z.int(), 1e300, `at most ${Number.MAX_SAFE_INTEGER}`],
    ['a low whole number', z.int().min(0), -1, 'at least 0'],
  ])('says in numbers why %s is refused', async (_name, schema, given, sentence) => {
    const { body } = await ask(z.object({ id: schema }).safeParse({ id: given }).error);
    expect(body).toBe(`{"error":"id must be ${sentence}."}`);
  });

  const animal = z.discriminatedUnion('kind', [
    z.object({ kind: z.literal('cat') }),
    z.object({ kind: z.literal('dog') }),
  ]);
  it.each([
    ['an unknown form', animal, { kind: 'cow' }, 'one.kind must be one of cat, dog.'],
    ['a form that is not named', animal, {}, 'one.kind must be one of cat, dog.'],
    ['no type of a union', z.union([z.string(), z.array(z.string())]), 5, 'one must be a string or an array.'],
    ['a wrong item of a union', z.union([z.string(), z.array(z.string())]), [5], 'one has an invalid form.'],
  ])('says what is expected instead of %s', async (_name, schema, given, sentence) => {
    const { body } = await ask(z.object({ one: schema }).safeParse({ one: given }).error);
    expect(JSON.parse(body)).toEqual({ error: sentence });
  });

  it('answers 503 with Retry-After when the store is down', async () => {
    const { response, body } = await ask(new StoreDown('connect ECONNREFUSED 10.0.0.7:5432'));
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
    expect(body).not.toContain('10.0.0.7');
  });

  it('reveals nothing about unknown errors, and logs them once with the request id', async () => {
    const { response, body, lines } = await ask(new Error('select * from secrets'), { 'x-request-id': 'request-0001' });
    expect(response.status).toBe(500);
    expect(Object.keys(JSON.parse(body))).toEqual(['error']);
    expect(body).not.toContain('select');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({ requestId: 'request-0001', msg: 'request failed' });
  });

  it('handles a thrown value that is not an error', async () => {
    expect((await ask('a text')).response.status).toBe(500);
    expect((await ask(undefined)).response.status).toBe(500);
  });

  it('accepts a harmless request id and replaces any other', async () => {
    expect((await ask(jobNotFound(), { 'x-request-id': 'abc.DEF_1-2' })).response.headers.get('x-request-id')).toBe(
      'abc.DEF_1-2',
    );
    const made = (await ask(jobNotFound(), { 'x-request-id': 'a b; c' })).response.headers.get('x-request-id');
    expect(made).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});
