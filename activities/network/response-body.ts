import type { IncomingMessage } from 'node:http';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

/** A body cannot be read; the message is the end of a sentence about its address. */
export class BodyError extends Error {
  override name = 'BodyError';
}

/** Encodings that `readBody` reads, for a request's header. */
export const acceptedEncodings = 'gzip, deflate, br';

/**
 * Reads a body up to a limit, which counts for what is sent and for what it expands to, and closes the connection. Errors:
 * BodyError, the connection's own.
 */
export async function readBody(response: IncomingMessage, maxBytes: number): Promise<Uint8Array> {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
  const decoder = decoderOf(encoding);
  if (decoder === undefined) {
    response.destroy();
    throw new BodyError(`has the encoding ${JSON.stringify(encoding.slice(0, 40))}, which is not supported`);
  }
  const chunks: Buffer[] = [];
  let size = 0;
  // an error of the response ends the decoder, too
  const body = decoder === null ? response : response.on('error', (error) => decoder.destroy(error)).pipe(decoder);
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > maxBytes) throw new BodyError(`has more than ${maxBytes / 1e6} MB`);
      chunks.push(bytes);
    }
  } finally {
    response.destroy();
    decoder?.destroy();
  }
  return Buffer.concat(chunks);
}

function decoderOf(encoding: string) {
  if (encoding === 'identity' || encoding === '') return null;
  if (encoding === 'gzip' || encoding === 'x-gzip') return createGunzip();
  if (encoding === 'deflate') return createInflate();
  return encoding === 'br' ? createBrotliDecompress() : undefined;
}
