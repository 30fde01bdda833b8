import { once } from 'node:events';
import { createServer, request as send, type IncomingMessage, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listening } from '../servers/listening.ts';

/** A fault that occurs once, at the next request whose method and path match. */
export interface ProxyFault {
  on: RegExp;
  /** Null cuts the connection instead of answering. */
  status: number | null;
  headers?: Readonly<Record<string, string>>;
  /** Lets the request take effect first, so that only its response is lost or changed. */
  after?: boolean;
}

export interface FailingProxy extends AsyncDisposable {
  origin: string;
  /** `<method> <path>` of each request, oldest first. */
  requests: string[];
  fail(fault: ProxyFault): void;
  /** Calls `act` once, before the next matching request is forwarded. */
  before(on: RegExp, act: () => Promise<unknown>): void;
}

/** Starts an HTTP proxy that simulates rate limits, outages and lost responses of a real server. */
export async function startFailingProxy(target: string): Promise<FailingProxy> {
  const faults: ProxyFault[] = [];
  const hooks: { on: RegExp; act: () => Promise<unknown> }[] = [];
  const requests: string[] = [];

  /** Removes and returns the first match. */
  function take<Kept extends { on: RegExp }>(kept: Kept[], line: string): Kept | undefined {
    const at = kept.findIndex(({ on }) => on.test(line));
    return at === -1 ? undefined : kept.splice(at, 1)[0];
  }

  async function forward(request: IncomingMessage, body: Buffer): Promise<{ answer: IncomingMessage; body: Buffer }> {
    const { method, headers } = request;
    const passed = { ...headers, host: new URL(target).host };
    const forwarded = send(new URL(request.url ?? '/', target), { method, headers: passed }).end(body);
    const [answer] = (await once(forwarded, 'response')) as [IncomingMessage];
    return { answer, body: await buffer(answer) };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const line = `${request.method} ${request.url}`;
    requests.push(line);
    const body = await buffer(request);
    await take(hooks, line)?.act();
    const fault = take(faults, line);
    const done = fault === undefined || fault.after === true ? await forward(request, body) : null;
    if (fault === undefined && done !== null)
      return void response.writeHead(done.answer.statusCode ?? 500, done.answer.headers).end(done.body);
    if (fault?.status === null) return void response.destroy();
    response.writeHead(fault?.status ?? 500, { 'content-type': 'application/json', ...fault?.headers }).end('{}');
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  const at = await listening(server);
  const { port } = at;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    fail: (fault) => void faults.push(fault),
    before: (on, act) => void hooks.push({ on, act }),
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
