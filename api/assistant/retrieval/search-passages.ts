import type { SearchHit, SearchRequest } from '../../../search/query/search-request.ts';
import { mergeParts, partsOf } from '../../../search/query/split-question.ts';
import type { QueryEmbedder } from './embed-query.ts';
import { mostReranked, type RerankPassages } from './rerank-passages.ts';
import type { LeasedIndex } from '../site-indexes.ts';

/** Finds the best passages of a site. An unavailable embedding or reranking model does not make it fail. */
export type SearchPassages = (
  index: Pick<LeasedIndex, 'search' | 'vectorModel' | 'weakScore'>,
  request: SearchRequest,
  signal: AbortSignal,
) => Promise<SearchHit[]>;

/**
 * Creates a search of the index: by words, and by meaning where the index has vectors of the embedder's model. The best
 * passages are then ordered by the reranking model.
 */
export function createPassageSearch(embedder: QueryEmbedder | null, rerank: RerankPassages | null): SearchPassages {
  const find: SearchPassages = async (index, request, signal) => {
    if (embedder === null || index.vectorModel !== embedder.name) return index.search(request, signal);
    const vector = await embedder.embed(wholeQuery(request), signal);
    return index.search(vector === null ? request : { ...request, vector }, signal);
  };
  const findInOrder: SearchPassages = async (index, request, signal) => {
    if (rerank === null) return find(index, request, signal);
    const hits = await find(index, { ...request, limit: Math.max(request.limit, mostReranked) }, signal);
    return (await rerank(wholeQuery(request), hits, signal)).slice(0, request.limit);
  };
  return async (index, request, signal) => {
    // by words alone, the index does the same itself
    const isByWords = rerank === null && index.vectorModel !== embedder?.name;
    const parts = isByWords ? [] : partsOf(request);
    const [whole, ...found] = await Promise.all([request, ...parts].map((one) => findInOrder(index, one, signal)));
    return mergeParts(whole ?? [], found, { weakScore: index.weakScore, limit: request.limit });
  };
}

/** Returns the query after what it refers to, for models that read both. */
function wholeQuery({ query, referred = [] }: SearchRequest): string {
  return [...referred, query].join('\n');
}
