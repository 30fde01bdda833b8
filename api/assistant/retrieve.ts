import type { SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import type { SitePages } from '../../search/query/site-index.ts';
import { referredTexts } from '../../search/query/referred-texts.ts';
import type { LeasedIndex } from './site-indexes.ts';
import type { SearchPassages } from './retrieval/search-passages.ts';
import type { MessageRequest } from './message-request.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/** Total length of the passages shown to the model, in characters: about 3,000 tokens. */
const maxEvidenceLength = 12_000;
const maxHintLength = 2_000;
const hintsFromHistory = 2;

/**
 * Retrieves up to `retrievalPageSize` passages for a question. The conversation, the current page and the context that
 * the reader sent influence the ranking. Lower-ranked passages are dropped once the length limit is reached.
 */
export async function retrieve(
  searchPassages: SearchPassages,
  {
    index,
    request,
    query,
    signal,
  }: { index: LeasedIndex; request: MessageRequest; query: string | null; signal: AbortSignal },
): Promise<SearchHit[]> {
  const hits = await searchPassages(index, searchOf(request, index, query), signal);
  let length = 0;
  return hits.filter((hit, position) => {
    length += hit.content.length;
    return position === 0 || length <= maxEvidenceLength;
  });
}

/**
 * Returns the search for a question. What the question leaves unsaid is in the query that a model wrote for it, or else
 * taken from the conversation and the current page.
 */
export function searchOf(
  request: MessageRequest,
  index: Pick<SitePages, 'page'>,
  query: string | null = null,
): SearchRequest {
  return {
    query: query ?? request.question,
    limit: request.retrievalPageSize,
    filter: request.filter,
    currentPath: request.currentPath ?? undefined,
    hints: hintsOf(request, query),
    referred: query === null ? referredTexts(request.question, earlierTexts(request, index)) : [],
  };
}

/** Returns the title of the page that the reader views, and their earlier questions, each shortened. */
function earlierTexts(request: MessageRequest, index: Pick<SitePages, 'page'>): string[] {
  const page = viewedPage(request, index);
  const title = page === null ? [] : [page.metadata.title];
  const questions = request.history
    .filter(({ role }) => role === 'user')
    .map(({ text }) => text.slice(0, maxHintLength));
  return [...title, ...questions];
}

/** Returns the page that the reader is on; null if the site has none there, or the reader may not see it. */
export function viewedPage(
  { currentPath, filter }: MessageRequest,
  index: Pick<SitePages, 'page'>,
): ReturnType<SitePages['page']> {
  return currentPath === null ? null : index.page(currentPath, filter);
}

/** Returns the latest earlier questions, or the one that a query replaces, and the text the reader selected. */
function hintsOf({ question, history, context }: MessageRequest, query: string | null): string[] {
  const earlier = history.filter(({ role }) => role === 'user').slice(-hintsFromHistory);
  const questions = query === null ? earlier.map(({ text }) => text) : [question];
  return [...questions, ...context.map(({ value }) => value)].map((text) => text.slice(0, maxHintLength));
}

/**
 * Returns the URL of a page or passage: its own, or below the site's base URL, or relative to the site when it has none.
 */
export function urlOf(
  { path, anchor, metadata }: { path: string; anchor: string | null; metadata?: { url?: string } },
  baseUrl: string | null,
): string {
  if (metadata?.url !== undefined) return `${metadata.url}${anchor === null ? '' : `#${anchor}`}`;
  const page = path === 'index' ? '' : path.replace(/\/index$/, '');
  return `${trimEndSlashes(baseUrl ?? '')}/${withinSite(page)}${anchor === null ? '' : `#${anchor}`}`;
}

/**
 * Removes everything from a page's path that would lead outside the site. A repository chooses the names of its pages,
 * and browsers treat a backslash as a slash, drop control characters, and resolve dot segments even when they are
 * encoded or followed by spaces. `/\t/host`, for example, would be the URL of another site.
 */
function withinSite(path: string): string {
  return path
    .split(/[/\\]/)
    .map((segment) => segment.replaceAll(/\p{Cc}/gu, '').replaceAll(/[?#]/g, encodeURIComponent))
    .filter((segment) => segment !== '' && !/^(?:\.|%2e){1,2} *$/i.test(segment))
    .join('/');
}
