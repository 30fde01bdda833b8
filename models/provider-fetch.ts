import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Awaited immediately before a request is sent, so that a process that was frozen until then does not send it. */
export const beforeRequest = new AsyncLocalStorage<() => Promise<void>>();

/** The longest streamed answer of a hosted model, 128,000 tokens in frames of 300 bytes, takes 40 MB. */
const maxStreamBytes = 64 * 1024 * 1024;
/** Limit of other responses, which are parsed at once: errors, and vectors of passages. */
const maxBodyBytes = 4 * 1024 * 1024;
/** Bytes parsed per turn of the event loop; a longer line is parsed whole. */
const bytesPerTurn = 2 * 1024;
/** A line of a stream is parsed at once: it is one frame, with all arguments of a call at most. */
const maxLineLength = 1024 * 1024;
/** Most characters of a line that may start a value. */
const maxMarks = 20_000;

/**
 * `fetch` for model providers. It follows no redirect, which would forward the conversation, and keys in headers other
 * than Authorization, to another server. An endless response fails. Responses are passed on in chunks that do not block
 * the event loop, whatever their size and shape.
 */
export async function fetchFromProvider(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  await beforeRequest.getStore()?.();
  const options = { ...init, redirect: 'manual' as const, dispatcher: withoutTimeouts() };
  const response = await fetch(input, options);
  if (response.body === null) return response;
  const { status, statusText, headers } = response;
  const isStream = response.ok && headers.get('content-type')?.startsWith('text/event-stream') === true;
  const fitsLine = createLineLimit();
  let left = isStream ? maxStreamBytes : maxBodyBytes;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    async transform(bytes, controller) {
      for (let at = 0; at < bytes.length; at += bytesPerTurn) {
        const chunk = bytes.subarray(at, at + bytesPerTurn);
        left -= chunk.length;
        if (left < 0 || (isStream && !fitsLine(chunk)))
          return controller.error(new Error("The model provider's response is too long."));
        controller.enqueue(chunk);
        await nextTurn();
      }
    },
  });
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}

// loads `fetch`, which then sets its dispatcher
void Response;
const dispatcherOfFetch = Symbol.for('undici.globalDispatcher.1');

interface Dispatcher {
  dispatch(options: object, handler: object): boolean;
}

/**
 * Returns the dispatcher of `fetch` without its limits: it fails after 5 minutes of silence, in which some models still
 * think. The callers have their own limits.
 */
function withoutTimeouts(): Dispatcher | undefined {
  const usual: unknown = Reflect.get(globalThis, dispatcherOfFetch);
  if (!isDispatcher(usual)) return undefined;
  return {
    dispatch: (options, handler) => usual.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler),
  };
}

function isDispatcher(value: unknown): value is Dispatcher {
  return typeof value === 'object' && value !== null && 'dispatch' in value;
}

const marks = new Set(Buffer.from('{[,'));
const lineFeed = 0x0a;

function createLineLimit(): (chunk: Uint8Array) => boolean {
  let length = 0;
  let values = 0;
  return (chunk) => {
    for (const byte of chunk) {
      if (byte === lineFeed) {
        length = 0;
        values = 0;
        continue;
      }
      length += 1;
      if (marks.has(byte)) values += 1;
      if (length > maxLineLength || values > maxMarks) return false;
    }
    return true;
  };
}
