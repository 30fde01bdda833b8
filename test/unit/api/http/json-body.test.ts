import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { bodyLimits, readJsonBody } from '../../../../api/http/json-body.ts';
import { createJsonScan } from '../../../../lib/json-scan.ts';
import { fc, propertyRuns } from '../../../support/properties.ts';

function requestOf(body: string | Buffer, headers: Record<string, string | undefined> = {}): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const bytes = Buffer.from(body);
  const all = { 'content-type': 'application/json', 'content-length': String(bytes.length), ...headers };
  request.headers = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  request.push(bytes);
  request.push(null);
  return request;
}

function read(body: string | Buffer, headers?: Record<string, string | undefined>, maxBytes = 1000): Promise<unknown> {
  return readJsonBody(requestOf(body, headers), { maxBytes });
}

describe('readJsonBody', () => {
  it.each(['application/json', 'application/json; charset=utf-8', 'Application/JSON;charset="UTF-8"'])(
    'accepts %s',
    async (type) => {
      expect(await read('{"a":[1,"é"]}', { 'content-type': type })).toEqual({ a: [1, 'é'] });
    },
  );

  it('accepts a chunked body and one with a byte order mark', async () => {
    expect(await read('\uFEFF{"a":1}', { 'content-length': undefined, 'transfer-encoding': 'chunked' })).toEqual({
      a: 1,
    });
  });

  it.each([
    ['another type', '{}', { 'content-type': 'text/plain' }, 415],
    ['no type', '{}', { 'content-type': undefined }, 415],
    ['a form', 'a=1', { 'content-type': 'application/x-www-form-urlencoded' }, 415],
    ['another charset', '{}', { 'content-type': 'application/json; charset=latin1' }, 415],
    ['a content encoding', '{}', { 'content-encoding': 'gzip' }, 415],
    ['an empty body', '', {}, 400],
    ['broken JSON', '{"a":', {}, 400],
    ['two values', '{}{}', {}, 400],
    ['bytes that are no UTF-8', Buffer.from([0x22, 0xff, 0x22]), {}, 400],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), {}, 400],
    ['a NUL in a text', '{"a":"\\u0000"}', {}, 400],
    ['a NUL in a name', '{"\\u0000":1}', {}, 400],
    ['33 levels', '['.repeat(33) + ']'.repeat(33), {}, 400],
    ['endless depth', '['.repeat(900), {}, 400],
    ['more bytes than allowed', `"${'a'.repeat(1000)}"`, {}, 413],
    [
      'more bytes than announced',
      `"${'a'.repeat(1000)}"`,
      { 'content-length': undefined, 'transfer-encoding': 'chunked' },
      413,
    ],
  ])('refuses %s', async (_, body, headers, status) => {
    await expect(read(body, headers)).rejects.toMatchObject({
      name: 'ApiError',
      status,
      message: expect.stringMatching(/^The .+\.$/),
    });
  });

  it('counts depth outside strings only', async () => {
    const deep = '['.repeat(32) + ']'.repeat(32);
    expect(JSON.stringify(await read(deep))).toBe(deep);
    const text = JSON.stringify({ a: `\\"${'['.repeat(50)}` });
    expect(JSON.stringify(await read(text))).toBe(text);
  });

  it('accepts 50,000 values and refuses one more, whatever they are and wherever the network splits the body', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), (value, cut) => {
        const text = `[${JSON.stringify(value)}${',0'.repeat(50_000 - 1 - valuesOf(value))}`;
        const at = cut % text.length;
        const taken = (end: string) => {
          const scan = createJsonScan(bodyLimits);
          return [text.slice(0, at), text.slice(at), end].map((chunk) => scan(Buffer.from(chunk)));
        };
        expect(taken(']')).toEqual([null, null, null]);
        expect(taken(',0]').at(-1)).toBe('holds more than 50000 values');
      }),
      { numRuns: propertyRuns(50) },
    );
  });

  it.each([
    ['different names', (at: number) => `"k${at}":0`],
    ['names with escapes', () => '"\\u006b":0'],
  ])('accepts 2,000 %s and refuses one more', async (_, field) => {
    const body = (count: number) => `[${Array.from({ length: count }, (_, at) => `{${field(at)}}`).join()}]`;
    expect(await read(body(2_000), {}, 1e6)).toHaveLength(2_000);
    await expect(read(body(2_001), {}, 1e6)).rejects.toThrow('The body has more than 2000 different names.');
  });

  it('drops __proto__ at every level, however it is spelled', async () => {
    const value: any = await read('{"a":{"__proto__":{"x":1}},"\\u005f_proto__":{"y":2},"b":1}');
    expect(value).toEqual({ a: {}, b: 1 });
    expect(value.x ?? value.y ?? value.a.x).toBeUndefined();
  });

  it('repairs broken Unicode, which no database accepts', async () => {
    expect(await read('{"a":"x\\ud800y"}')).toEqual({ a: 'x\uFFFDy' });
  });

  it('reports when the client disconnects', async () => {
    const request = new IncomingMessage(new Socket());
    request.headers = { 'content-type': 'application/json', 'content-length': '10' };
    const reading = readJsonBody(request, { maxBytes: 100 });
    request.push('{"a"');
    request.destroy(new Error('aborted'));
    await expect(reading).rejects.toMatchObject({ status: 400 });
  });
});

/** Commas and opening brackets in the JSON, outside strings. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const items = Object.values(value);
  return 1 + Math.max(0, items.length - 1) + items.reduce((sum: number, item) => sum + valuesOf(item), 0);
}
