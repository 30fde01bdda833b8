import { Agent, createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from '../servers/listening.ts';

export interface RoundRobin extends AsyncDisposable {
  baseUrl: string;
  /** Resolves when the proxy sees this health of the process at the port. */
  sees(port: number, health: 'up' | 'down'): Promise<void>;
}

const checkEveryMs = 100;

/**
 * Starts a small proxy in front of several processes. It uses them in turn, skips those whose `/readyz` is not 200, and tries
 * the next one only when a connection is refused, because then nothing was sent.
 */
export async function startRoundRobin(ports: number[]): Promise<RoundRobin> {
  const agent = new Agent({ keepAlive: true });
  const up = new Set(ports);
  let looks = () => {};
  let turn = 0;

  function forward(incoming: IncomingMessage, response: ServerResponse, body: Buffer, tried: number[]): void {
    const open = ports.filter((port) => !tried.includes(port));
    const candidates = open.filter((port) => up.has(port));
    const port = (candidates.length > 0 ? candidates : open)[(turn += 1) % Math.max(1, candidates.length)] ?? open[0];
    if (port === undefined) return void response.writeHead(502).end('{"error":"no process is running"}');
    const { method, url: path, headers } = incoming;
    const sent = request({ agent, host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'keep-alive' });
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED') return forward(incoming, response, body, [...tried, port]);
      if (response.headersSent) response.destroy();
      else response.writeHead(502).end(`{"error":"the connection broke: ${error.code}"}`);
    });
    response.on('close', () => sent.destroy());
    sent.end(body);
  }

  async function check(port: number): Promise<void> {
    const signal = AbortSignal.timeout(2_000);
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal }).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok === true) up.add(port);
    else up.delete(port);
  }

  const stopped = new AbortController();
  async function watch(): Promise<void> {
    while (!stopped.signal.aborted) {
      await Promise.all(ports.map(check));
      looks();
      await new Promise((resolve) => setTimeout(resolve, checkEveryMs));
    }
  }
  const watching = watch();

  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    forward(incoming, response, Buffer.concat(parts), []);
  });
  const at = await listening(server);

  return {
    baseUrl: `http://127.0.0.1:${at.port}`,
    sees: (port, health) =>
      new Promise((resolve) => {
        looks = () => {
          if (up.has(port) === (health === 'up')) resolve();
        };
      }),
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await watching;
      agent.destroy();
      await at[Symbol.asyncDispose]();
    },
  };
}
