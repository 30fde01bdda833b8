import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { listening } from './listening.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface PageServer extends AsyncDisposable {
  url: string;
  /** `host:port`. */
  host: string;
  port: number;
  /** Paths of all requests, in order. */
  hits: string[];
  requests: IncomingMessage[];
}

/** Serves pages on this machine by the answer to each request. */
export async function startPageServer(answer: Answer): Promise<PageServer> {
  const hits: string[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    hits.push(request.url ?? '');
    requests.push(request);
    answer(request, response);
  });
  const at = await listening(server);
  const { port } = at;
  return {
    url: `http://pages.test:${port}`,
    host: `pages.test:${port}`,
    port,
    hits,
    requests,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

/** Answers with a body. */
export const page =
  (body: string | Buffer, type: string | null = 'text/html; charset=utf-8', headers: Record<string, string> = {}) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, { ...(type === null ? {} : { 'content-type': type }), ...headers }).end(body);
  };

export const redirect =
  (location: string, status = 302) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(status, { location }).end();
  };

/** Writes until the connection ends. */
export const endless =
  (chunk: string | Buffer, headers: Record<string, string> = { 'content-type': 'text/plain' }) =>
  (_request: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(200, headers);
    const more = () => {
      while (!response.destroyed && response.write(chunk));
      response.once('drain', more);
    };
    more();
  };
