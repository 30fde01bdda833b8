import { createServer } from 'node:http';
import { listening } from '../../support/servers/listening.ts';

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
  const at = await listening(http);
  return {
    host: `127.0.0.1:${at.port}`,
    hits: () => hits,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
