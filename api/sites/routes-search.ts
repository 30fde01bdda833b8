import { z } from 'zod';
import type { SiteRef } from '../../db/caller.ts';
import type { AppRouter } from '../http/app-context.ts';
import { createRouter } from '../create-router.ts';
import { filterSchema, toSearchFilter } from '../assistant/message-request.ts';
import type { SearchPassages } from '../assistant/search-passages.ts';
import type { SiteIndexes } from '../assistant/site-indexes.ts';
import { pageNotFound, siteNotIndexed } from '../http/errors.ts';
import { readJsonBody } from '../http/json-body.ts';
import { presentHit } from './present-search.ts';
import type { SiteAccess } from './site-access.ts';

const largestBody = 262_144;

/** What one search finds at most. */
export const mostPassages = 50;

export const searchBodySchema = z.looseObject({
  query: z
    .string()
    .max(2_000)
    .refine((query) => query.trim() !== '', 'must not be blank'),
  pageSize: z.int().min(1).max(mostPassages).default(10),
  filter: filterSchema.nullish(),
});

export const pageBodySchema = z.looseObject({ path: z.string().min(1).max(1_000) });

/** `POST /discovery/v1/search/{domain}` and `POST /discovery/v1/page/{domain}`. */
export function createSearchRouter({
  access,
  indexes,
  searchPassages,
  onEmpty,
}: {
  access: SiteAccess;
  indexes: SiteIndexes;
  searchPassages: SearchPassages;
  /** Told of a search that found nothing. */
  onEmpty: (site: SiteRef, query: string) => void;
}): AppRouter {
  const router = createRouter();

  router.post('/discovery/v1/search/:domain', async (ctx) => {
    const { site } = await access.forReader(ctx, ctx.params['domain'] ?? '');
    const { query, pageSize, filter } = searchBodySchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    const lease = await indexes.lease(site);
    if (lease === null) throw siteNotIndexed();
    const gone = new AbortController();
    const leave = () => gone.abort();
    ctx.res.once('close', leave);
    try {
      const request = { query, limit: pageSize, filter: toSearchFilter(filter) };
      const hits = await searchPassages(lease.index, request, gone.signal);
      if (hits.length === 0 && !gone.signal.aborted) onEmpty(site, query);
      ctx.body = hits.map(presentHit);
    } finally {
      ctx.res.off('close', leave);
      lease.release();
    }
  });

  router.post('/discovery/v1/page/:domain', async (ctx) => {
    const { site } = await access.forReader(ctx, ctx.params['domain'] ?? '');
    const { path } = pageBodySchema.parse(await readJsonBody(ctx.req, { maxBytes: largestBody }));
    const lease = await indexes.lease(site);
    if (lease === null) throw siteNotIndexed();
    try {
      const page = lease.index.page(path);
      if (page === null) throw pageNotFound();
      ctx.body = { path: page.path, content: page.content };
    } finally {
      lease.release();
    }
  });

  return router;
}
