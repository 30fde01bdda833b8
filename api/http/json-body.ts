import type { IncomingMessage } from 'node:http';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bodyTooLarge, invalidRequest, unsupportedMediaType } from './errors.ts';
import { createJsonScan } from '../../lib/json-scan.ts';

const largeBody = 256 * 1024;
/** Limits of a JSON body. A conversation of 500 messages with sources and tools has about 35,000 values. */
export const bodyLimits = { maxDepth: 32, maxValues: 50_000 };

/**
 * Reads a JSON body: UTF-8 only, no Content-Encoding (which rules out zip bombs), at most `maxBytes`, 32 levels, 50,000
 * values and 2,000 different names. `__proto__` is dropped, NUL is rejected because PostgreSQL cannot store it, and
 * lone surrogates are replaced. Throws ApiError.
 */
export async function readJsonBody(request: IncomingMessage, { maxBytes }: { maxBytes: number }): Promise<unknown> {
  const announced = request.headers['content-length'];
  const isEmpty = announced === '0' || (announced === undefined && request.headers['transfer-encoding'] === undefined);
  if (isEmpty) throw invalidRequest('The body is empty; it must be a JSON object.');
  checkHeaders(request);
  if (Number(announced ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const text = decode(await readBytes(request, maxBytes));
  const value = parse(text);
  const isLarge = text.length > largeBody;
  // for a large body, each step takes about ten milliseconds
  if (isLarge) await nextTurn();
  // in valid UTF-8, a NUL or a lone surrogate can only come from an escape
  const clean = /\\u|__proto__/.test(text) ? cleaned(value) : value;
  if (isLarge) await nextTurn();
  return clean;
}

/** Reports whether a request has a body. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

function checkHeaders({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.trim().toLowerCase() !== 'identity')
    throw unsupportedMediaType('The body must not have a Content-Encoding.');
  const [type = '', ...parameters] = (headers['content-type'] ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  if (type !== 'application/json')
    throw unsupportedMediaType('The body must be JSON, with Content-Type: application/json.');
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8')
    throw unsupportedMediaType('The body must be in UTF-8.');
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const scan = createJsonScan(bodyLimits);
    let size = 0;
    function finish(settle: () => void): void {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    }
    function onData(chunk: Buffer): void {
      try {
        size += chunk.length;
        if (size > maxBytes) throw bodyTooLarge(maxBytes);
        const problem = scan(chunk);
        if (problem !== null) throw invalidRequest(`The body ${problem}.`);
        chunks.push(chunk);
      } catch (error) {
        // discard the rest, so that the client receives the response
        finish(() => reject(error));
        request.resume();
      }
    }
    function onEnd(): void {
      finish(() => resolve(Buffer.concat(chunks, size)));
    }
    function onBroken(): void {
      finish(() => reject(invalidRequest('The body ended early.')));
      request.on('error', () => undefined);
    }
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest('The body is not valid UTF-8.');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidRequest('The body is not valid JSON.');
  }
}

/** Cleans a value in place: most values need no change, and a copy would take longer than parsing. */
function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanedText(value);
  if (typeof value !== 'object' || value === null) return value;
  for (const name of Object.keys(value)) {
    const item: unknown = Reflect.get(value, name);
    const [newName, newItem] = [cleanedText(name), cleaned(item)];
    if (name === '__proto__' || newName !== name) Reflect.deleteProperty(value, name);
    if (name !== '__proto__' && (newName !== name || newItem !== item)) Reflect.set(value, newName, newItem);
  }
  return value;
}

function cleanedText(text: string): string {
  if (text.includes('\0')) throw invalidRequest('The body contains a NUL character.');
  return text.isWellFormed() ? text : text.toWellFormed();
}
