import type { ClientRequest, IncomingMessage } from 'node:http';

/** Waits for what a server answers. From one that switches to another protocol Node hears neither an answer nor an error. */
export function answerTo(request: ClientRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request.on('response', resolve).on('error', reject);
    request.on('close', () => reject(new Error('The connection ended without an answer.')));
  });
}
