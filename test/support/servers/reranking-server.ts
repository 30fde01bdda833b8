import { createServer, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { listening } from './listening.ts';

interface RerankRequest {
  model: string;
  query: string;
  documents: string[];
}

/** A server for Cohere's `/rerank`. It ranks documents that contain a given word first. */
export async function startRerankingServer(word: string) {
  const seen: (RerankRequest & { authorization: string | undefined; path: string | undefined })[] = [];
  /** Answers the next requests in its place. */
  const control: { answer: ((request: RerankRequest, response: ServerResponse) => unknown) | null } = { answer: null };
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request)) as RerankRequest;
    seen.push({ ...body, authorization: request.headers.authorization, path: request.url });
    if (control.answer !== null) return control.answer(body, response);
    const results = body.documents
      .map((document, index) => ({ index, relevance_score: document.includes(word) ? 0.9 : 0.1 }))
      .toSorted((a, b) => b.relevance_score - a.relevance_score);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ id: 'x', results, meta: { billed_units: { search_units: 1 } } }));
  });
  const at = await listening(server);
  return {
    seen,
    control,
    baseUrl: `http://127.0.0.1:${at.port}/v2`,
    [Symbol.asyncDispose]: at[Symbol.asyncDispose],
  };
}
