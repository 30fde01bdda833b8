import { createServer } from 'node:http';
import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { writeClientError } from './client-error.ts';

export interface HttpServer {
  server: Server;
  listen(address: { host: string; port: number }): Promise<number>;
  /** Goes on, but lets each answer close its connection, so that whoever asks again asks another process. */
  turnAway(): void;
  /** Stops accepting, lets open requests and streams run for `graceMs`, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

const idleSweepMs = 50;

/**
 * Node's HTTP server with limits that end slow and endless clients, and JSON for what the parser refuses. A reader that takes
 * nothing of an answer for `readerStalledMs` is cut off, whatever the answer is: its bytes are held in memory until then.
 */
export function createHttpServer(
  listener: RequestListener,
  { readerStalledMs = 30_000 }: { readerStalledMs?: number } = {},
): HttpServer {
  const answering = new WeakMap<Duplex, ServerResponse>();
  let isTurningAway = false;
  const server = createServer(
    {
      headersTimeout: 5_000,
      requestTimeout: 15_000,
      connectionsCheckingInterval: 1_000,
      // longer than the idle time of the usual load balancers, so that they close first
      keepAliveTimeout: 75_000,
      requireHostHeader: false,
      noDelay: true,
    },
    (request, response) => {
      answering.set(request.socket, response);
      if (isTurningAway) response.shouldKeepAlive = false;
      listener(request, response);
    },
  );
  server.maxConnections = 20_000;
  // nothing has moved on the connection for that long
  server.setTimeout(readerStalledMs, (socket) => {
    const response = answering.get(socket);
    const isAnswering = response !== undefined && !response.writableFinished;
    const isStalled = socket.writableLength > 0 || (response?.writableLength ?? 0) > 0;
    // an answer may be long in coming
    if (isAnswering && !isStalled) socket.setTimeout(readerStalledMs);
    else socket.destroy();
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const body = JSON.stringify({ error: 'The expectation of the Expect header cannot be met.' });
    response.writeHead(417, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket);
    writeClientError(error, socket, response !== undefined && response.headersSent && !response.writableFinished);
  });

  return {
    server,

    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          resolve(portOf(server.address()));
        });
      }),

    turnAway() {
      isTurningAway = true;
    },

    async close(graceMs) {
      isTurningAway = true;
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      // a connection kept alive falls idle when its answer ends
      const sweep = setInterval(() => server.closeIdleConnections(), idleSweepMs);
      const stop = new AbortController();
      const deadline = wait(graceMs, undefined, { signal: stop.signal }).catch(() => undefined);
      await Promise.race([closed, deadline]);
      stop.abort();
      clearInterval(sweep);
      server.closeAllConnections();
      await closed;
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
