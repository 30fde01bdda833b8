import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { chunksOf, complaintAbout, completionOf, errorBodyOf, type ScriptedReply } from './scripted-model-wire.ts';
import { listening } from './listening.ts';

export type { ScriptedReply, ScriptedToolCall } from './scripted-model-wire.ts';

export interface ChatMessage {
  role: string;
  content: unknown;
  tool_calls?: { id: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

export interface RecordedRequest {
  body: { model: string; messages: ChatMessage[]; tools?: { function: { name: string } }[]; stream?: boolean };
  authorization: string | null;
  /** Continues a stalled reply. */
  release(): void;
  /** Settles when the exchange is over: `complete`, or `aborted` by either side before its last byte. */
  closed: Promise<'complete' | 'aborted'>;
}

export type ReplyMaker = (request: RecordedRequest) => ScriptedReply | Promise<ScriptedReply>;

export interface ScriptedModelServer {
  /** Value for `OPENAI_COMPATIBLE_BASE_URL`. */
  baseUrl: string;
  /** Queues replies; each request takes one. With none left, a request whose reply was cut off gets it again. */
  script(...replies: (ScriptedReply | ReplyMaker)[]): void;
  /** Sets the reply for requests beyond the queue; null makes such requests violations again. */
  respondWith(reply: ScriptedReply | ReplyMaker | null): void;
  requests: RecordedRequest[];
  /** Unscripted requests, and those that a vendor would refuse; a test ends by expecting none. */
  violations: string[];
  /** The first request that no earlier call has returned. */
  nextRequest(): Promise<RecordedRequest>;
  /** Continues the stalled replies to all requests so far. */
  release(): void;
  /** Returns the number of queued replies. */
  pending(): number;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a model server that speaks `/chat/completions`, as JSON and as a stream, and sends scripted replies only.
 * Another process may drive it over HTTP: `POST /control/script` (an array of replies), `POST /control/respond-with`
 * (one reply or null), `POST /control/release`, `GET /control/state`.
 */
export async function startScriptedModelServer({ port = 0 } = {}): Promise<ScriptedModelServer> {
  const queue: (ScriptedReply | ReplyMaker)[] = [];
  const requests: RecordedRequest[] = [];
  const violations: string[] = [];
  const waiting: ((request: RecordedRequest) => void)[] = [];
  /** Replies that have not arrived completely, by the text of their request. */
  const unfinished = new Map<string, ScriptedReply | ReplyMaker>();
  let taken = 0;
  let fallback: ScriptedReply | ReplyMaker | null = null;

  async function answerChat(request: IncomingMessage, response: ServerResponse) {
    const recorded = record(request, response, await readJson(request));
    const id = `reply_${requests.push(recorded.request)}`;
    const waiter = waiting.shift();
    if (waiter !== undefined) {
      taken += 1;
      waiter(recorded.request);
    }
    const complaint = complaintAbout(recorded.request.body);
    if (complaint !== null) return refuse(response, 400, complaint);
    const sent = JSON.stringify(recorded.request.body);
    // when the machine stalls, a call loses its heartbeat, and the next attempt sends the same request
    const next = queue.shift() ?? fallback ?? unfinished.get(sent);
    if (next === undefined) return refuse(response, 500, `Request ${requests.length} is not scripted.`);
    unfinished.set(sent, next);
    void recorded.request.closed.then((end) => end === 'complete' && unfinished.delete(sent));
    const reply = typeof next === 'function' ? await next(recorded.request) : next;
    await send({ reply, recorded, response, identity: { id, model: recorded.request.body.model } });
  }

  function refuse(response: ServerResponse, status: number, message: string) {
    violations.push(message);
    sendJson(response, status, errorBodyOf(status, message));
  }

  async function answerControl(path: string, request: IncomingMessage, response: ServerResponse) {
    if (path === '/control/script') queue.push(...((await readJson(request)) as ScriptedReply[]));
    else if (path === '/control/respond-with') fallback = (await readJson(request)) as ScriptedReply | null;
    else if (path === '/control/release') release();
    else if (path !== '/control/state') return refuse(response, 404, `${request.method} ${path} is not scripted.`);
    const state = { requests: requests.map(({ body }) => body), violations, pending: queue.length };
    sendJson(response, 200, state);
  }

  function release() {
    for (const request of requests) request.release();
  }

  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://server').pathname;
    const answer = path.endsWith('/chat/completions')
      ? answerChat(request, response)
      : answerControl(path, request, response);
    answer.catch((error: unknown) => {
      if (response.destroyed || request.destroyed) return;
      refuse(response, 500, `The script failed: ${String(error)}`);
    });
  });
  const at = await listening(server, port);

  return {
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    script: (...replies) => void queue.push(...replies),
    respondWith: (reply) => void (fallback = reply),
    requests,
    violations,
    nextRequest() {
      const seen = requests[taken];
      if (seen === undefined) return new Promise((resolve) => waiting.push(resolve));
      taken += 1;
      return Promise.resolve(seen);
    },
    release,
    pending: () => queue.length,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}

interface Exchange {
  request: RecordedRequest;
  released: Promise<void>;
}

function record(request: IncomingMessage, response: ServerResponse, body: unknown): Exchange {
  const { promise: released, resolve } = Promise.withResolvers<void>();
  const closed = new Promise<'complete' | 'aborted'>((settle) => {
    response.once('close', () => settle(response.writableFinished ? 'complete' : 'aborted'));
  });
  void closed.then(() => resolve());
  const authorization = request.headers.authorization ?? null;
  return { request: { body: body as RecordedRequest['body'], authorization, release: resolve, closed }, released };
}

interface Sending {
  reply: ScriptedReply;
  recorded: Exchange;
  response: ServerResponse;
  identity: { id: string; model: string };
}

async function send({ reply, recorded, response, identity }: Sending): Promise<void> {
  if (reply.delayMs !== undefined) await delay(reply.delayMs);
  if (reply.stall === true) await recorded.released;
  if (response.destroyed) return;
  if (reply.retryAfter !== undefined) response.setHeader('retry-after', String(reply.retryAfter));
  const status = reply.status ?? 200;
  if (status !== 200)
    return sendJson(response, status, errorBodyOf(status, reply.errorMessage ?? `Scripted ${status}`));
  if (recorded.request.body.stream === true) return sendStream({ reply, recorded, response, identity });
  if (reply.cut === undefined || reply.cut === false) return sendJson(response, 200, completionOf(reply, identity));
  const text = JSON.stringify(completionOf(reply, identity));
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
  response.write(text.slice(0, text.length / 2), () => response.destroy());
}

async function sendStream({ reply, recorded, response, identity }: Sending): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const chunks = chunksOf(reply, identity);
  const cutAt = reply.cut === true ? Math.ceil(chunks.length / 2) : reply.cut;
  for (const [index, chunk] of chunks.entries()) {
    if (index === cutAt) return void response.write(': cut\n\n', () => response.destroy());
    if (index === reply.stall) await recorded.released;
    if (reply.chunkDelayMs !== undefined) await delay(reply.chunkDelayMs);
    if (response.destroyed) return;
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
  response.end('data: [DONE]\n\n');
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return JSON.parse(Buffer.concat(parts).toString('utf8'));
}

if (import.meta.main) {
  const server = await startScriptedModelServer({ port: Number(process.env['PORT'] ?? 0) });
  console.log(JSON.stringify({ baseUrl: server.baseUrl }));
}
