import type { IncomingMessage } from 'node:http';
import { bodyTooLarge, invalidRequest, unsupportedMediaType } from './errors.ts';

const deepest = 32;

/**
 * Reads a JSON body: UTF-8 only, no content-encoding (no zip bombs), at most `maxBytes` and 32 levels. `__proto__` is
 * dropped, NUL is refused because PostgreSQL stores none, and broken Unicode is mended. Throws ApiError.
 */
export async function readJsonBody(request: IncomingMessage, { maxBytes }: { maxBytes: number }): Promise<unknown> {
  const announced = request.headers['content-length'];
  const isEmpty = announced === '0' || (announced === undefined && request.headers['transfer-encoding'] === undefined);
  if (isEmpty) throw invalidRequest('The body is empty; it must be a JSON object.');
  checkHeaders(request);
  if (Number(announced ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
  const text = decode(await readBytes(request, maxBytes));
  if (isTooDeep(text)) throw invalidRequest(`The body is nested deeper than ${deepest} levels.`);
  return cleaned(parse(text));
}

/** Whether a request brings a body at all, where it may be left out. */
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
    let size = 0;
    function finish(settle: () => void): void {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      settle();
    }
    function onData(chunk: Buffer): void {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // the rest is read and thrown away, so that the client gets to see the answer
      finish(() => reject(bodyTooLarge(maxBytes)));
      request.resume();
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

/** Counts brackets outside of strings, before anything recursive sees them. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  let isInString = false;
  for (let position = 0; position < text.length; position += 1) {
    const character = text[position];
    if (isInString) {
      if (character === '\\') position += 1;
      else if (character === '"') isInString = false;
      continue;
    }
    if (character === '"') isInString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > deepest) return true;
  }
  return false;
}

function cleaned(value: unknown): unknown {
  if (typeof value === 'string') return cleanedText(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(([name]) => name !== '__proto__');
  return Object.fromEntries(entries.map(([name, item]) => [cleanedText(name), cleaned(item)]));
}

function cleanedText(text: string): string {
  if (text.includes('\0')) throw invalidRequest('The body holds a NUL character.');
  return text.isWellFormed() ? text : text.toWellFormed();
}
