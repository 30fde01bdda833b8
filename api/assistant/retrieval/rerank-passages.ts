import { createRequire } from 'node:module';
import type { RerankingModelV4 } from '@ai-sdk/provider';
import type { SearchHit } from '../../../search/query/search-request.ts';
import { createOptionalModel, type OptionalModelDeps } from './optional-model.ts';

/** Passages that a reranking model reads, each up to this length in characters: about 500 tokens. */
export const maxReranked = 50;
const maxPassageLength = 2_000;
const maxQueryLength = 2_000;

/** Orders passages by how well they answer a query. When the model fails or is late, their order stays as it is. */
export type RerankPassages = (query: string, hits: SearchHit[], signal: AbortSignal) => Promise<SearchHit[]>;

const load = createRequire(import.meta.url);

export function createReranker({
  model,
  log,
  timeoutMs,
}: { model: RerankingModelV4 } & Pick<OptionalModelDeps, 'log' | 'timeoutMs'>): RerankPassages {
  const optional = createOptionalModel({ log, name: 'reranking', instead: 'ranking without it', timeoutMs });
  // only a process with a reranking model loads the SDK
  const { rerank }: typeof import('ai') = load('ai');

  return async (query, hits, signal) => {
    if (hits.length < 2) return hits;
    const read = hits.slice(0, maxReranked);
    const documents = read.map(textOf);
    const answer = await optional.ask(
      (abortSignal) => rerank({ model, query: query.slice(0, maxQueryLength), documents, maxRetries: 0, abortSignal }),
      signal,
    );
    if (answer === null) return hits;
    // a model may leave passages out, repeat one, or name one that it was not given
    const ranked = answer.ranking.flatMap(({ originalIndex }) => read[originalIndex] ?? []);
    return [...new Set([...ranked, ...hits])];
  };
}

function textOf({ title, headings, content }: SearchHit): string {
  return [title, ...headings, content].join('\n').slice(0, maxPassageLength);
}
