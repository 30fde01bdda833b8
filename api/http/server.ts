import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';

export interface HttpServer {
  server: Server;
  listen(address: { host: string; port: number }): Promise<number>;
  /** Keeps serving, but closes each connection after its response, so that clients reconnect to another process. */
  turnAway(): void;
  /** Stops accepting connections, lets open requests and streams run for `graceMs`, then closes the rest. */
  close(graceMs: number): Promise<void>;
}

const idleSweepMs = 50;

/**
 * Creates Node's HTTP server with limits against slow and endless clients, and with JSON errors for requests that the
 * parser rejects. A client that reads nothing of its response for `stalledMs` is disconnected, whatever the response is,
 * because its bytes are held in memory until then; so is one that sends nothing of its body for as long.
 */
export function createHttpServer(
  listener: RequestListener,
  { stalledMs = 30_000 }: { stalledMs?: number } = {},
): HttpServer {
  // the last response of each connection; the entry is changed in place, because this runs for every request
  const answering = new WeakMap<Duplex, { response: ServerResponse | null }>();
  let isTurningAway = false;
  const server = createServer(
    {
      headersTimeout: 5_000,
      // 6 MB of images over 0.4 Mbit/s
      requestTimeout: 120_000,
      connectionsCheckingInterval: 1_000,
      // longer than the idle timeout of common load balancers, so that they close first
      keepAliveTimeout: 75_000,
      requireHostHeader: false,
      noDelay: true,
    },
    (request, response) => {
      const connection = answering.get(request.socket);
      if (connection !== undefined) connection.response = response;
      if (isTurningAway) response.shouldKeepAlive = false;
      listener(request, response);
    },
  );
  server.maxConnections = 20_000;
  server.on('connection', (socket) => answering.set(socket, { response: null }));
  // runs when the connection has been idle for that long
  server.setTimeout(stalledMs, (socket) => {
    const response = answering.get(socket)?.response ?? null;
    const isAnswering = response !== null && response.req.complete && !response.writableFinished;
    const isStalled = socket.writableLength > 0 || (response?.writableLength ?? 0) > 0;
    // a response may take long to produce
    if (isAnswering && !isStalled) socket.setTimeout(stalledMs);
    else socket.destroy();
  });
  server.on('checkExpectation', (_request, response: ServerResponse) => {
    const body = JSON.stringify({ error: 'The Expect header asks for something that this server does not support.' });
    response.writeHead(417, {
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
    });
    response.end(body);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const response = answering.get(socket)?.response ?? null;
    writeClientError(error, socket, response !== null && response.headersSent && !response.writableFinished);
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
      // a keep-alive connection becomes idle when its response ends
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

const refusals: Record<string, { status: number; sentence: string }> = {
  HPE_HEADER_OVERFLOW: { status: 431, sentence: 'The header fields are too large.' },
  HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, sentence: 'The chunk extensions of the body are too large.' },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, sentence: 'The request did not arrive in time.' },
};

/** Answers a request that Node's parser rejected with a JSON error, then closes the connection. */
function writeClientError(error: NodeJS.ErrnoException, socket: Duplex, isAnswering: boolean): void {
  // bytes sent in the middle of another response would be read as part of it
  if (isAnswering || !socket.writable || error.code === 'ECONNRESET') {
    socket.destroy(error);
    return;
  }
  const { status, sentence } = refusals[error.code ?? ''] ?? {
    status: 400,
    sentence: 'The request is not valid HTTP.',
  };
  const body = JSON.stringify({ error: sentence });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
