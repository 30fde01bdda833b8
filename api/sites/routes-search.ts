import { z } from 'zod';
import type { AppRouter } from '../http/app-context.ts';
import { readerTokenHeader, type ReaderAccess } from '../access/reader-access.ts';
import type { Admission } from '../access/request-access.ts';
import { defineRoute, json } from '../http/define-route.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { domain } from './site-schemas.ts';
import { toSearchFilter } from '../assistant/message-request.ts';
import { urlOf } from '../assistant/retrieve.ts';
import { clientGone } from '../http/streams/client-gone.ts';
import { pageNotFound } from '../http/errors.ts';
import { presentHit } from './present-hit.ts';
import {
  pageBodySchema,
  passagesSchema,
  searchBodySchema,
  suggestBodySchema,
  suggestionsSchema,
} from './search-schemas.ts';
import type { ReadSite } from './site-reader.ts';
import type { SiteReading } from './site-reading.ts';

const maxBytes = 256 * 1024;

export const searchRoutes = {
  searchDocumentation: defineRoute({
    method: 'post',
    path: '/discovery/v1/search/{domain}',
    summary: 'Searches a documentation site.',
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    body: searchBodySchema,
    example: { query: 'retry limit' },
    maxBytes,
    responses: {
      200: json('The best passages.', passagesSchema),
    },
  }),
  suggestPages: defineRoute({
    method: 'post',
    path: '/discovery/v1/suggest/{domain}',
    summary: 'Suggests pages and questions while a reader types.',
    description: 'Finds titles and headings that contain the words; the last word may be incomplete.',
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    body: suggestBodySchema,
    responses: { 200: json('The suggestions, pages before their sections.', suggestionsSchema) },
  }),
  getDocumentationPage: defineRoute({
    method: 'post',
    path: '/discovery/v1/page/{domain}',
    summary: 'Returns one page as Markdown.',
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    body: pageBodySchema,
    maxBytes,
    responses: { 200: json('The page.', z.looseObject({ path: z.string(), content: z.string() })) },
  }),
};

export interface SearchRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  readerAccess: ReaderAccess;
  reading: SiteReading;
}

export function createSearchRouter({ admit, readSite, readerAccess, reading }: SearchRouteDeps): AppRouter {
  return mountRoutes(admit, searchRoutes, {
    async searchDocumentation({ ctx, caller, params, headers, body }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const { query, pageSize, filter } = await body();
      const request = { query, limit: pageSize, filter: toSearchFilter(filter) };
      return (await reading.search({ site, access }, request, clientGone(ctx.res))).map(presentHit);
    },

    async suggestPages({ ctx, caller, params, headers, body }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const { query, limit, filter } = await body();
      const typed = query.trim().toLowerCase();
      const questions = site.starterQuestions.filter((question) => question.toLowerCase().includes(typed));
      if (typed === '') return { questions, pages: [] };
      const found = await reading.withIndex({ site, access }, (index) =>
        index.suggest({ query, limit, filter: toSearchFilter(filter) }, clientGone(ctx.res)),
      );
      const pages = found.map(({ path, title, heading, anchor, metadata }) => ({
        path,
        url: urlOf({ path, anchor, metadata }, site.baseUrl),
        title,
        heading,
      }));
      return { questions, pages };
    },

    async getDocumentationPage({ caller, params, headers, body }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const { path } = await body();
      const page = await reading.openPage({ site, access }, path, { isSignedIn: caller.sessionId !== null });
      if (page === null) throw pageNotFound();
      return { path: page.path, content: page.content };
    },
  });
}
