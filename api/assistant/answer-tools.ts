import { z } from 'zod';
import type { SearchFilter, SearchHit, SearchRequest } from '../../search/query/search-request.ts';
import type { SitePages } from '../../search/query/site-index.ts';
import type { PageMetadata } from '../../search/read/source-page.ts';
import type { AnswerTool } from './generate.ts';
import { urlOf } from './retrieve.ts';

const resultsOfSearch = 5;
const maxPageSize = 12_000;

const searchInput = z.object({ query: z.string().min(1).max(500) });
const pageInput = z.object({ path: z.string().min(1).max(500) });

/**
 * Creates the tools with which the model can look up further passages and whole pages under the reader's filter.
 * Everything shown to the model is passed to `found` or `read`, so that the URLs in it count as known.
 */
export function createAnswerTools({
  search,
  index,
  filter,
  baseUrl,
  found,
  read,
}: {
  search(request: SearchRequest): Promise<SearchHit[]>;
  index: Pick<SitePages, 'page'>;
  filter: SearchFilter | null;
  baseUrl: string | null;
  found(hits: SearchHit[]): void;
  read(page: { path: string; metadata: PageMetadata }, content: string): void;
}): AnswerTool[] {
  return [
    {
      definition: {
        type: 'function',
        name: 'search',
        description: 'Searches the documentation and returns the best passages.',
        inputSchema: {
          type: 'object',
          properties: { query: { type: 'string' } },
          required: ['query'],
          additionalProperties: false,
        },
      },
      async run(input) {
        const parsed = searchInput.safeParse(parseJson(input));
        if (!parsed.success) return 'The input must be {"query": "…"}.';
        const hits = await search({ query: parsed.data.query, limit: resultsOfSearch, filter });
        found(hits);
        if (hits.length === 0) return 'Nothing was found.';
        return JSON.stringify(
          hits.map((hit) => ({ url: urlOf(hit, baseUrl), title: hit.title, content: hit.content })),
        );
      },
    },
    {
      definition: {
        type: 'function',
        name: 'read_page',
        description: 'Reads one page of the documentation by its path, such as "guides/install".',
        inputSchema: {
          type: 'object',
          properties: { path: { type: 'string' } },
          required: ['path'],
          additionalProperties: false,
        },
      },
      run(input) {
        const parsed = pageInput.safeParse(parseJson(input));
        if (!parsed.success) return 'The input must be {"path": "…"}.';
        const page = index.page(parsed.data.path, filter);
        if (page === null) return 'There is no such page.';
        const content = page.content.slice(0, maxPageSize);
        read(page, content);
        return `${urlOf({ ...page, anchor: null }, baseUrl)}\n\n${content}`;
      },
    },
  ];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
