import { z } from 'zod';

/** Address at which a crawl starts: a page, a folder of pages, or a sitemap. */
export const websiteUrlSchema = z
  .string()
  .max(1_000)
  .transform((text, context) => {
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') {
      url.hash = '';
      if (url.search === '') return url.href;
    }
    context.addIssue('must be an http or https address without a user name and without a query');
    return z.NEVER;
  });

/** Part of a website that a crawl stays in. */
export interface WebsiteScope {
  start: URL;
  /** Beginning of the paths: the folder of the start, with a slash at its end. */
  folder: string;
}

/** A last segment with a dot is a file; others are folders. */
export function scopeOf(address: string): WebsiteScope {
  const start = new URL(address);
  const isFile = /\.[^/.]*$/.test(start.pathname);
  const folder = isFile ? start.pathname.replace(/(?<=\/)[^/]*$/, '') : start.pathname.replace(/(?<!\/)\/*$/, '/');
  return { start, folder };
}

const maxUrlLength = 1_000;
const maxDepth = 20;

/**
 * Returns the address of a page within a scope, without its fragment; null outside of it. Addresses with a query are
 * outside: calendars and filters make endlessly many.
 */
export function withinScope(text: string, { start, folder }: WebsiteScope): string | null {
  const url = text.length > maxUrlLength ? null : URL.parse(text);
  if (url === null || url.origin !== start.origin || url.search !== '' || url.username !== '' || url.password !== '')
    return null;
  url.hash = '';
  const isInside = url.pathname.startsWith(folder) || `${url.pathname}/` === folder;
  return isInside && url.pathname.split('/').length <= maxDepth && url.href.length <= maxUrlLength ? url.href : null;
}
