import type { SearchHit, SearchRequest } from '../../../search/query/search-request.ts';
import { mergeParts, partsOf } from '../../../search/query/split-question.ts';
import type { QueryEmbedder } from './embed-query.ts';
import { maxReranked, type RerankPassages } from './rerank-passages.ts';
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
  const findInOrder: SearchPassages = async (index, request, signal) => {
    if (rerank === null) return index.search(request, signal);
    const hits = await index.search({ ...request, limit: Math.max(request.limit, maxReranked) }, signal);
    return (await rerank(wholeQuery(request), hits, signal)).slice(0, request.limit);
  };
  return async (index, request, signal) => {
    const requests = [request, ...partsOf(request)].map((one) => ({ ...one, isSingle: true }));
    const vectors =
      embedder === null || index.vectorModel !== embedder.name
        ? []
        : await Promise.all(requests.map((one) => embedder.embed(wholeQuery(one), signal)));
    // by words alone, the index finds the parts itself
    if (rerank === null && vectors.every((vector) => vector === null)) return index.search(request, signal);
    const [whole = [], ...found] = await Promise.all(
      requests.map((one, at) => findInOrder(index, { ...one, ...(vectors[at] && { vector: vectors[at] }) }, signal)),
    );
    return mergeParts(whole, found, { weakScore: index.weakScore, limit: request.limit });
  };
}

/** Returns the query after what it refers to, for models that read both. */
function wholeQuery({ query, referred = [] }: SearchRequest): string {
  return [...referred, query].join('\n');
}
