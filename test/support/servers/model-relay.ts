import { createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listening } from './listening.ts';

export interface ModelRelay extends AsyncDisposable {
  /** Value for `OPENAI_COMPATIBLE_BASE_URL`. */
  baseUrl: string;
}

/** Starts a model server for several test files: the model `compatible/PORT` is the model server at that port. */
export async function startModelRelay(): Promise<ModelRelay> {
  const server = createServer(async (incoming, response) => {
    const body = await buffer(incoming);
    const { model: port } = JSON.parse(body.toString());
    const { method, url: path, headers } = incoming;
    const sent = request({ host: '127.0.0.1', port, method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
      answer.on('error', () => response.destroy());
    });
    sent.on('error', () => response.destroy());
    response.on('close', () => sent.destroy());
    sent.end(body);
  });
  const { port, ...at } = await listening(server);
  return { baseUrl: `http://127.0.0.1:${port}/v1`, ...at };
}
