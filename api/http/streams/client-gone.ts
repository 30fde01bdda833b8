import type { ServerResponse } from 'node:http';

/** Returns a signal that aborts when the client disconnects, or when its response has been sent. */
export function clientGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  if (response.destroyed) gone.abort();
  return gone.signal;
}
