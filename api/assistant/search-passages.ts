import type { SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import type { SiteIndex } from '../../search/query/site-index.ts';
import type { Reranker } from './rerank.ts';

/** Finds the best passages of a site. An unavailable embedding model does not make it fail. */
export type SearchPassages = (index: SiteIndex, request: SearchRequest, signal: AbortSignal) => Promise<SearchHit[]>;

const candidatesPerHit = 4;
const fewestCandidates = 20;
const mostCandidates = 50;

/** Creates a search of the index. With a reranker, the best candidates are also ranked by meaning. */
export function createPassageSearch(rerank: Reranker | null): SearchPassages {
  if (rerank === null) return (index, request) => Promise.resolve(index.search(request));
  return async (index, request, signal) => {
    const wanted = Math.max(fewestCandidates, candidatesPerHit * request.limit);
    const candidates = index.search({ ...request, limit: Math.min(wanted, mostCandidates) });
    if (candidates.length < 2) return candidates;
    return (await rerank(request.query, candidates, signal)).slice(0, request.limit);
  };
}
