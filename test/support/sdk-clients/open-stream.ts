import { once } from 'node:events';
import { Agent, request } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';

/** A stream as its reader sees it: the received text, and functions to wait, to stop reading and to disconnect. */
export interface OpenStream {
  status: number;
  headers: IncomingHttpHeaders;
  /** Returns the text received so far. */
  text(): string;
  /** Resolves when this text was received; rejects when the stream ends without it. */
  until(wanted: string): Promise<void>;
  /** `complete`: the response ended as HTTP demands; `cut`: the connection was lost, or the reader disconnected. */
  ended: Promise<'complete' | 'cut'>;
  /** Begins to read a stream that was opened without reading. */
  read(): void;
  leave(): void;
}

export interface OpenOptions {
  /** Omitted when a cookie authenticates the request. */
  key?: string;
  /** A POST with this body; without it a GET. */
  json?: unknown;
  headers?: Record<string, string>;
  /** The address to connect from. */
  localAddress?: string;
  /** Reads nothing from the connection until `read` is called. */
  isIdle?: boolean;
  /** Disconnects after this many bytes of the body. */
  leaveAfter?: number;
  onData?: (part: Buffer) => void;
}

/** Opens a stream on a separate connection; resolves when its headers arrive. */
export async function openStream(url: string, options: OpenOptions): Promise<OpenStream> {
  const { key, json, headers = {}, localAddress, isIdle = false, leaveAfter = Infinity, onData } = options;
  const body = json === undefined ? undefined : JSON.stringify(json);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const sent = request(url, {
    agent,
    localAddress,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
  });
  sent.end(body);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => {});
  response.on('error', () => {});

  const parts: Buffer[] = [];
  let size = 0;
  let waiting: { wanted: string; resolve(): void; reject(error: Error): void }[] = [];
  // without the first bytes of a character that is not complete yet
  const text = () => new TextDecoder().decode(Buffer.concat(parts), { stream: true });
  let isOver = false;
  let hasLeft = false;
  const ended = new Promise<'complete' | 'cut'>((resolve) => {
    response.once('close', () => {
      isOver = true;
      for (const { wanted, reject } of waiting) reject(new Error(`The stream ended without ${wanted}:\n${text()}`));
      resolve(response.complete && !hasLeft ? 'complete' : 'cut');
    });
  });

  function leave(): void {
    hasLeft = true;
    response.destroy();
  }

  function take(part: Buffer): void {
    parts.push(part.subarray(0, leaveAfter - size));
    size += part.length;
    onData?.(part);
    if (size >= leaveAfter) leave();
    if (waiting.length === 0) return;
    const soFar = text();
    for (const { wanted, resolve } of waiting) if (soFar.includes(wanted)) resolve();
    waiting = waiting.filter(({ wanted }) => !soFar.includes(wanted));
  }

  const read = () => void response.on('data', take);
  if (!isIdle) read();

  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    text,
    until(wanted) {
      if (text().includes(wanted)) return Promise.resolve();
      if (isOver) return Promise.reject(new Error(`The stream ended without ${wanted}:\n${text()}`));
      return new Promise((resolve, reject) => waiting.push({ wanted, resolve, reject }));
    },
    ended,
    read,
    leave,
  };
}

/** Returns the text of an answer in either protocol. */
export function answerOf(stream: string): string {
  return stream
    .slice(0, stream.lastIndexOf('\n') + 1)
    .split('\n')
    .map((line) => {
      if (line.startsWith('0:')) return JSON.parse(line.slice(2)) as string;
      if (!line.startsWith('data: {')) return '';
      const event = JSON.parse(line.slice(6)) as { type: string; delta?: string };
      return event.type === 'text-delta' ? (event.delta ?? '') : '';
    })
    .join('');
}

/** Returns how a stream ends: with an error and a finish, with a finish, or with neither. */
export function endingOf(stream: string): 'failed' | 'finished' | 'open' {
  const hasFinish = /^d:\{.*\}\n$/m.test(stream) || /data: \{"type":"finish".*\}\n\ndata: \[DONE\]\n\n$/.test(stream);
  if (!hasFinish) return 'open';
  return /^3:"|^data: \{"type":"error"/m.test(stream) ? 'failed' : 'finished';
}

const comment = ': keep-alive\n\n';

/** Returns a stream without its keep-alive messages, including one that is cut off at the end. */
export function withoutKeepAlive(stream: string): string {
  if (!stream.startsWith(':')) return stream.replace(/^\n/gm, '');
  const words = stream.replaceAll(comment, '');
  const left = Array.from({ length: comment.length - 1 }, (_, cut) => comment.slice(0, -1 - cut));
  const part = left.find((text) => words.endsWith(`\n\n${text}`)) ?? '';
  return words.slice(0, words.length - part.length);
}
