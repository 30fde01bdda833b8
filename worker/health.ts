import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Registry } from 'prom-client';
import { OldSchemaError } from '../db/check-database.ts';

export interface HealthDeps {
  /** Port on all interfaces; 0 for any free one. */
  port: number;
  /** Reports whether the process polls for work and is not shutting down. */
  isPolling(): boolean;
  /** Throws OldSchemaError, or another error when the database cannot be used. */
  checkDatabase(): Promise<void>;
  metrics: Pick<Registry, 'contentType' | 'metrics'>;
}

export interface Health extends AsyncDisposable {
  readonly port: number;
}

/** Serves `GET /healthz`, `GET /readyz` (503 unless the worker accepts work) and `GET /metrics`. */
export async function serveHealth({ port, isPolling, checkDatabase, metrics }: HealthDeps): Promise<Health> {
  async function problem(): Promise<string | null> {
    if (!isPolling()) return 'The worker accepts no work: it is starting, shutting down, or cannot reach Temporal.';
    try {
      await checkDatabase();
      return null;
    } catch (error) {
      return error instanceof OldSchemaError ? error.message : 'The database does not respond.';
    }
  }

  async function answer(path: string): Promise<[status: number, body: object]> {
    if (path === '/healthz') return [200, { status: 'ok' }];
    if (path !== '/readyz') return [404, { error: 'Not found. The endpoints are /healthz, /readyz and /metrics.' }];
    const error = await problem();
    return error === null ? [200, { status: 'ok' }] : [503, { error }];
  }

  const server = createServer({ requestTimeout: 5_000 }, async (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    if (path === '/metrics') {
      const text = await metrics.metrics();
      response.writeHead(200, { 'Content-Type': metrics.contentType, 'Cache-Control': 'no-store' });
      response.end(text);
      return;
    }
    const [status, body] = await answer(path);
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store' });
    response.end(JSON.stringify(body));
  });
  server.listen(port);
  await once(server, 'listening');
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : port,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
