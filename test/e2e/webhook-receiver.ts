import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Receiver {
  url: string;
  /** The status it answers with from now on. */
  status: number;
  /** The `webhook-id` of each message received. */
  got: string[];
}

/** Receives webhooks. */
export async function startReceiver(): Promise<{ receiver: Receiver; server: Server }> {
  const receiver: Receiver = { url: '', status: 500, got: [] };
  const server = createServer((request, response) => {
    receiver.got.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(receiver.status).end('so it is'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  receiver.url = `http://127.0.0.1:${port}/hook`;
  return { receiver, server };
}
