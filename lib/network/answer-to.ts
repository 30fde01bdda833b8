import type { ClientRequest, IncomingMessage } from 'node:http';

/** Waits for a server's response. If the server switches to another protocol, Node emits neither a response nor an error. */
export function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
    request.on('close', () => reject(new Error('The connection ended without an answer.')));
  });
}
