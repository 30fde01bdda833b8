import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  id: string;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw body, for the signature. */
  text: string;
  body: any;
}

export interface Receiver extends AsyncDisposable {
  url: string;
  /** `host:port`, in the format of `DOCKET_WEBHOOK_ALLOWED_HOSTS`. */
  host: string;
  received: Received[];
  /** The responses to the next requests, in this order; then 200. */
  answers: ((response: ServerResponse) => void)[];
  /** Resolves with everything received once that many requests have arrived. */
  until(count: number): Promise<Received[]>;
}

/** A real webhook receiver on this machine. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const answers: Receiver['answers'] = [];
  let onReceived = () => {};
  const server = createServer((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString();
      received.push({
        id: String(request.headers['webhook-id']),
        path: request.url ?? '',
        headers: request.headers,
        text,
        body: JSON.parse(text),
      });
      onReceived();
      const answer = answers.shift() ?? ((plain: ServerResponse) => plain.end('thanks'));
      answer(response);
    });
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/hook`,
    host,
    received,
    answers,
    until: (count) =>
      new Promise((resolve) => {
        onReceived = () => {
          if (received.length >= count) resolve(received);
        };
        onReceived();
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}

export function answerWith(
  status: number,
  headers: Record<string, string> = {},
  body = '',
): (r: ServerResponse) => void {
  return (response) => void response.writeHead(status, headers).end(body);
}
