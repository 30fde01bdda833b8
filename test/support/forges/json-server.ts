import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from '../servers/listening.ts';

/** Answers instead of the server; returns false to let it answer. */
export type Interruption = (request: IncomingMessage, response: ServerResponse) => boolean;

export interface JsonServer extends AsyncDisposable {
  origin: string;
  host: string;
  interrupt: Interruption | null;
  /** The status is 0 until a response was sent. */
  requests: { path: string; authorization: string | null; body: string; status: number }[];
  /** Paths of the requests since the last call. */
  asked(): string[];
}

interface JsonRequest {
  url: URL;
  headers: IncomingMessage['headers'];
  authorization: string | null;
  body: string;
}

/** Starts a server on the loopback address that answers each request by a function. */
export async function startJsonServer(
  answer: (request: JsonRequest, response: ServerResponse) => void,
): Promise<JsonServer> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url: path = '', headers } = request;
      const authorization = headers.authorization ?? null;
      const received = { path, authorization, body, status: 0 };
      state.requests.push(received);
      response.once('finish', () => (received.status = response.statusCode));
      if (state.interrupt?.(request, response) === true) return;
      answer({ url: new URL(path, state.origin), headers, authorization, body }, response);
    });
  });
  const at = await listening(server);
  const { port } = at;
  const state: JsonServer = {
    origin: `http://127.0.0.1:${port}`,
    host: `127.0.0.1:${port}`,
    interrupt: null,
    requests: [],
    asked: () => state.requests.splice(0).map(({ path }) => path),
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
  return state;
}

export function reply(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

/** The token that fake forges accept. */
export const token = 'forge-token-of-issues-0123456789';

const start = Date.parse('2026-01-01T00:00:00Z');

/** Returns the time that is some minutes after a fixed one. */
export function timeOf(minutes: number): string {
  return new Date(start + minutes * 60_000).toISOString();
}
