import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Awaited directly before a request is sent. A process that was frozen until then learns there that it may not ask any more. */
export const beforeRequest = new AsyncLocalStorage<() => Promise<void>>();

/** The longest streamed answer of a hosted model, 128,000 tokens with a frame of 300 bytes each, takes 40 MB. */
const mostStreamed = 64 * 1024 * 1024;
/** Errors, and vectors of passages; they are parsed at once. */
const mostAtOnce = 4 * 1024 * 1024;
/** What is parsed between two turns of the event loop, but for a longer line. */
const bytesPerTurn = 2 * 1024;
/** A line of a stream is parsed at once: one frame, with all arguments of a call at most. */
const longestLine = 1024 * 1024;
/** Of a line: each may begin a value. */
const mostMarks = 20_000;

/**
 * `fetch` for model providers. It follows no redirect, which would take the conversation, and keys in headers other than
 * Authorization, to another server. An answer without an end breaks off, and whatever its size and shape, it is handed on in
 * pieces that leave the event loop to others.
 */
export async function fetchFromProvider(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  await beforeRequest.getStore()?.();
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isStream = response.ok && headers.get('content-type')?.startsWith('text/event-stream') === true;
  const fitsLine = createLineLimit();
  let left = isStream ? mostStreamed : mostAtOnce;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    async transform(bytes, controller) {
      for (let at = 0; at < bytes.length; at += bytesPerTurn) {
        const piece = bytes.subarray(at, at + bytesPerTurn);
        left -= piece.length;
        if (left < 0 || (isStream && !fitsLine(piece)))
          return controller.error(new Error("The model provider's response is too long."));
        controller.enqueue(piece);
        await nextTurn();
      }
    },
  });
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

const marks = new Set(Buffer.from('{[,'));
const lineFeed = 0x0a;

function createLineLimit(): (piece: Uint8Array) => boolean {
  let length = 0;
  let values = 0;
  return (piece) => {
    for (const byte of piece) {
      if (byte === lineFeed) {
        length = 0;
        values = 0;
        continue;
      }
      length += 1;
      if (marks.has(byte)) values += 1;
      if (length > longestLine || values > mostMarks) return false;
    }
    return true;
  };
}
