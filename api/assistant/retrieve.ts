import type { SearchHit } from '../../search/query/search-request.ts';
import type { SiteIndex } from '../../search/query/site-index.ts';
import type { SearchPassages } from './search-passages.ts';
import type { MessageRequest } from './message-request.ts';

/** Passages shown to the model, about 3,000 tokens in all. */
const longestEvidence = 12_000;
const longestHint = 2_000;
const hintsFromHistory = 2;

/**
 * The passages for a question: `retrievalPageSize` hits for the question, with the conversation, the current page and the
 * context that the reader gave helping to rank. What would not fit the model's share is left out, the best passages first kept.
 */
export async function retrieve(
  searchPassages: SearchPassages,
  { index, request, signal }: { index: SiteIndex; request: MessageRequest; signal: AbortSignal },
): Promise<SearchHit[]> {
  const search = {
    query: request.question,
    limit: request.retrievalPageSize,
    filter: request.filter,
    currentPath: request.currentPath ?? undefined,
    hints: hintsOf(request),
  };
  const hits = await searchPassages(index, search, signal);
  let length = 0;
  return hits.filter((hit, position) => {
    length += hit.content.length;
    return position === 0 || length <= longestEvidence;
  });
}

/** What was asked before, and what the reader selected. */
function hintsOf({ history, context }: MessageRequest): string[] {
  const questions = history.filter(({ role }) => role === 'user').slice(-hintsFromHistory);
  return [...questions.map(({ text }) => text), ...context.map(({ value }) => value)].map((text) =>
    text.slice(0, longestHint),
  );
}

/** The address of a page or passage: below the site's base URL, or relative to the site. */
export function urlOf({ path, anchor }: { path: string; anchor: string | null }, baseUrl: string | null): string {
  const page = path === 'index' ? '' : path.replace(/\/index$/, '');
  return `${(baseUrl ?? '').replace(/\/+$/, '')}/${withinSite(page)}${anchor === null ? '' : `#${anchor}`}`;
}

/**
 * A repository names its pages as it likes. Browsers take a backslash for a slash, leave control characters out and go up at
 * two dots, also at encoded ones and with blanks at the end, so `/\t/host` would be the address of another site.
 */
function withinSite(path: string): string {
  return path
    .split(/[/\\]/)
    .map((segment) => segment.replaceAll(/\p{Cc}/gu, '').replaceAll(/[?#]/g, encodeURIComponent))
    .filter((segment) => segment !== '' && !/^(?:\.|%2e){1,2} *$/i.test(segment))
    .join('/');
}
