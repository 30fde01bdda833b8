import { z } from 'zod';
import { readerTokenHeader, type ReaderAccess } from '../access/reader-access.ts';
import type { Admission } from '../access/request-access.ts';
import { urlOf } from '../assistant/retrieve.ts';
import type { AppContext, AppRouter } from '../http/app-context.ts';
import { closedQuery } from '../http/closed-object.ts';
import { defineRoute } from '../http/define-route.ts';
import { pageNotFound } from '../http/errors.ts';
import { mountRoutes } from '../http/mount-routes.ts';
import { wholeNumber } from '../http/page-schemas.ts';
import { fullTextOf, linkListOf } from './site-documents.ts';
import type { ReadSite } from './site-reader.ts';
import type { SiteReading } from './site-reading.ts';
import { domain } from './site-schemas.ts';

const query = closedQuery({
  from: wholeNumber(0, 1_000_000_000)
    .default(0)
    .meta({ description: 'Where this part begins; given in the Link header of the previous part.' }),
});

function textOf<const Type extends string>(description: string, type: Type, link: string) {
  return { description, content: { [type]: z.string() }, headers: { Link: link } };
}

const nextPart = 'The next part (rel="next"), when there is one.';

/** Routes for a site's documents as plain files, limited to pages that the reader may read. */
export const documentRoutes = {
  getLinkList: defineRoute({
    method: 'get',
    path: '/discovery/v1/docs/{domain}/llms.txt',
    summary: 'Lists the pages of a site with links to their Markdown, in parts of 1,000 pages.',
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    query,
    responses: { 200: textOf('A part of the list.', 'text/plain', nextPart) },
  }),
  getFullText: defineRoute({
    method: 'get',
    path: '/discovery/v1/docs/{domain}/llms-full.txt',
    summary: 'Returns the pages of a site as one text, in parts of about 1 MB.',
    key: 'assistant',
    params: { domain },
    headers: readerTokenHeader,
    query,
    responses: { 200: textOf('A part of the text.', 'text/plain', nextPart) },
  }),
  getMarkdownPage: defineRoute({
    method: 'get',
    path: '/discovery/v1/docs/{domain}/{+path}.md',
    summary: 'Returns one page as a Markdown file.',
    key: 'assistant',
    params: { domain, path: z.string().meta({ description: 'The path of the page, with its slashes.' }) },
    headers: readerTokenHeader,
    responses: {
      200: textOf('The page.', 'text/markdown', 'The published page (rel="canonical"), and llms.txt (rel="index").'),
    },
  }),
};

export interface DocumentRouteDeps {
  admit: Admission;
  readSite: ReadSite;
  readerAccess: ReaderAccess;
  reading: SiteReading;
}

export function createDocumentRouter({ admit, readSite, readerAccess, reading }: DocumentRouteDeps): AppRouter {
  return mountRoutes(admit, documentRoutes, {
    async getLinkList({ ctx, caller, params, headers, query: { from } }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const { text, next } = await reading.withIndex({ site, access }, (index) =>
        linkListOf(index, { domain: site.domain, from }),
      );
      linkNext(ctx, `llms.txt?from=${next}`, next);
      return text;
    },

    async getFullText({ ctx, caller, params, headers, query: { from } }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const { text, next } = await reading.withIndex({ site, access }, (index) => fullTextOf(index, from));
      linkNext(ctx, `llms-full.txt?from=${next}`, next);
      return text;
    },

    async getMarkdownPage({ ctx, caller, params, headers }) {
      const site = await readSite(caller, params.domain);
      const access = await readerAccess({ caller, site, token: headers['X-Reader-Token'] });
      const page = await reading.openPage({ site, access }, params.path, { isSignedIn: caller.sessionId !== null });
      if (page === null) throw pageNotFound();
      const published = URL.parse(urlOf({ ...page, anchor: null }, site.baseUrl));
      const up = '../'.repeat(params.path.split('/').length - 1);
      ctx.set('Link', [
        ...(published === null ? [] : [`<${published.href}>; rel="canonical"`]),
        `<${up}llms.txt>; rel="index"`,
      ]);
      return page.content;
    },
  });
}

function linkNext(ctx: AppContext, target: string, next: number | null): void {
  if (next !== null) ctx.set('Link', `<${target}>; rel="next"`);
}
