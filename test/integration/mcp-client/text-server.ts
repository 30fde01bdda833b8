import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface TextServer extends AsyncDisposable {
  /** `host:port`. */
  host: string;
  /** Number of requests so far. */
  hits(): number;
}

/** Answers every request on this machine with a text. */
export async function startTextServer(text: string): Promise<TextServer> {
  let hits = 0;
  const http = createServer((_request, response) => {
    hits += 1;
    response.end(text);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  return {
    host: `127.0.0.1:${(http.address() as AddressInfo).port}`,
    hits: () => hits,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      http.close();
      await once(http, 'close');
    },
  };
}
