import { AsyncLocalStorage } from 'node:async_hooks';

/** Awaited directly before a request is sent. A process that was frozen until then learns there that it may not ask any more. */
export const beforeRequest = new AsyncLocalStorage<() => Promise<void>>();

/** The longest answer of a hosted model, 128,000 tokens with a frame of 300 bytes each, takes 40 MB. */
const mostBytes = 64 * 1024 * 1024;

/**
 * `fetch` for model providers. It follows no redirect, which would take the conversation, and keys in headers other than
 * Authorization, to another server; and an answer without an end breaks off.
 */
export async function fetchFromProvider(...[input, init]: Parameters<typeof fetch>): Promise<Response> {
  await beforeRequest.getStore()?.();
  const response = await fetch(input, { ...init, redirect: 'manual' });
  if (response.body === null) return response;
  let left = mostBytes;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      left -= bytes.byteLength;
      if (left < 0) controller.error(new Error('The answer of the model provider is too long.'));
      else controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limit), { status, statusText, headers });
}
