import type { SearchHit } from '../../search/query/search-request.ts';

/** Returns the public form of a search result. */
export function presentHit({ path, anchor, title, headings, content, metadata, score }: SearchHit) {
  return { content, path, metadata: { ...metadata, title, headings, anchor, score } };
}
