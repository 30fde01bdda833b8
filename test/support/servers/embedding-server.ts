import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from './listening.ts';

/** A server for `/embeddings`. Words of one meaning, in whatever language, have the same vector. */
export async function startEmbeddingServer(meanings: string[][]) {
  const seen = { texts: [] as string[], calls: 0 };
  /** Replaces the next answers: a status, or the vectors of the texts. */
  const control: { answer: ((texts: string[], response: ServerResponse) => unknown) | null } = { answer: null };
  const vectorOf = (value: string) => [
    ...meanings.map((words) => (words.some((word) => value.toLowerCase().includes(word)) ? 1 : 0)),
    0.1,
  ];
  const server = createServer(async (request, response) => {
    const { input } = JSON.parse(await text(request)) as { input: string[] };
    seen.calls += 1;
    const vectors = control.answer === null ? input.map(vectorOf) : control.answer(input, response);
    if (response.writableEnded) return;
    seen.texts.push(...input);
    const data = (vectors as number[][]).map((embedding, index) => ({ object: 'embedding', index, embedding }));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data, model: 'x', usage: { prompt_tokens: 1, total_tokens: 1 } }));
  });
  const at = await listening(server);
  return {
    seen,
    control,
    baseUrl: `http://127.0.0.1:${at.port}/v1`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
