import type { SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import type { QueryEmbedder } from './embed-query.ts';
import type { LeasedIndex } from './site-indexes.ts';

/** Finds the best passages of a site. An unavailable embedding model does not make it fail. */
export type SearchPassages = (
  index: Pick<LeasedIndex, 'search' | 'vectorModel'>,
  request: SearchRequest,
  signal: AbortSignal,
) => Promise<SearchHit[]>;

/** Creates a search of the index: by words, and by meaning where the index has vectors of the embedder's model. */
export function createPassageSearch(embedder: QueryEmbedder | null): SearchPassages {
  return async (index, request, signal) => {
    if (embedder === null || index.vectorModel !== embedder.name) return index.search(request, signal);
    const vector = await embedder.embed(request.query, signal);
    return index.search(vector === null ? request : { ...request, vector }, signal);
  };
}
