import type { SearchHit } from '../../search/query/search-request.ts';

/** A search result as the API shows it. */
export function presentHit({ path, anchor, title, headings, content, metadata, score }: SearchHit) {
  return { content, path, metadata: { ...metadata, title, headings, anchor, score } };
}
