import { z } from 'zod';
import type { SiteRef } from '../../db/caller.ts';
import type { AppRouter } from '../http/app-context.ts';
import type { Admission } from '../access/request-access.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { domain } from './site-schemas.ts';
import { filterSchema, toSearchFilter } from '../assistant/message-request.ts';
import type { SearchPassages } from '../assistant/search-passages.ts';
import type { SiteIndexes } from '../assistant/site-indexes.ts';
import { pageNotFound, siteNotIndexed } from '../http/errors.ts';
import type { ReadSite } from './site-reader.ts';
import type { SearchHit } from '../../search/query/search-request.ts';

/** Maximum number of passages per search. */
const mostPassages = 50;

const searchBodySchema = z.looseObject({
  query: z
    .string()
    .max(2_000)
    .refine((query) => query.trim() !== '', 'must not be blank'),
  pageSize: z.int().min(1).max(mostPassages).default(10),
  filter: filterSchema.nullish(),
});

const pageBodySchema = z.looseObject({ path: z.string().min(1).max(1_000) });

const maxBytes = 256 * 1024;

export const searchRoutes = {
  searchDocumentation: defineRoute({
    method: 'post',
    path: '/discovery/v1/search/{domain}',
    summary: 'Searches a documentation site.',
    key: 'assistant',
    params: { domain },
    body: searchBodySchema,
    maxBytes,
    responses: {
      200: json(
        'The best passages.',
        z
          .array(z.looseObject({ content: z.string(), path: z.string(), metadata: z.looseObject({}) }))
          .max(mostPassages),
      ),
    },
  }),
  getDocumentationPage: defineRoute({
    method: 'post',
    path: '/discovery/v1/page/{domain}',
    summary: 'Returns one page as Markdown.',
    key: 'assistant',
    params: { domain },
    body: pageBodySchema,
    maxBytes,
    responses: { 200: json('The page.', z.looseObject({ path: z.string(), content: z.string() })) },
  }),
};

export interface SearchRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  indexes: SiteIndexes;
  searchPassages: SearchPassages;
  /** Called after a search without results. */
  onEmpty: (site: SiteRef, query: string) => void;
}

export function createSearchRouter(deps: SearchRouteDeps): AppRouter {
  const { readSite, indexes, searchPassages, onEmpty } = deps;

  return mountRoutes(deps.admit, searchRoutes, {
    async searchDocumentation({ ctx, caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const { query, pageSize, filter } = await body();
      const lease = await indexes.lease(site);
      if (lease === null) throw siteNotIndexed();
      const gone = new AbortController();
      const leave = () => gone.abort();
      ctx.res.once('close', leave);
      try {
        const request = { query, limit: pageSize, filter: toSearchFilter(filter) };
        const hits = await searchPassages(lease.index, request, gone.signal);
        if (hits.length === 0 && !gone.signal.aborted) onEmpty(site, query);
        return hits.map(presentHit);
      } finally {
        ctx.res.off('close', leave);
        lease.release();
      }
    },

    async getDocumentationPage({ caller, params, body }) {
      const site = await readSite(caller, params.domain);
      const { path } = await body();
      const lease = await indexes.lease(site);
      if (lease === null) throw siteNotIndexed();
      try {
        const page = lease.index.page(path);
        if (page === null) throw pageNotFound();
        return { path: page.path, content: page.content };
      } finally {
        lease.release();
      }
    },
  });
}

/** Returns the public form of a search result. */
function presentHit({ path, anchor, title, headings, content, metadata, score }: SearchHit) {
  return { content, path, metadata: { ...metadata, title, headings, anchor, score } };
}
