import type { SiteRow } from '../../db/sites/sites.ts';
import { scopeOf } from '../../lib/inputs/website.ts';
import type { SitePages } from '../../search/query/site-index.ts';
import { pathOf } from '../../search/read/paths.ts';

/**
 * Returns the path that a site's index has for the page a reader is on. A browser's address also has the folder below
 * which the site or a crawled website is published, and may name the file of a folder. If a page has the path as it was
 * sent, that page is meant.
 */
export function pathOnSite(
  sent: string,
  { site, index }: { site: Pick<SiteRow, 'baseUrl' | 'sources'>; index: Pick<SitePages, 'page'> },
): string {
  const address = withoutIndex(pathOf(sent));
  const paths = publishedFolders(site).flatMap(({ folder, prefix }) => {
    const inFolder = pathBelow(folder, address);
    return inFolder === null ? [] : [`${prefix}/${inFolder}`];
  });
  // an unlisted page still has neighbors
  return [sent, `/${address}`, ...paths].find((path) => index.page(path) !== null) ?? paths[0] ?? sent;
}

/** Returns where the pages of the site, and those of its websites, are published. */
function publishedFolders({ baseUrl, sources }: Pick<SiteRow, 'baseUrl' | 'sources'>) {
  const websites = sources.flatMap((source) => (source.kind === 'website' ? [source] : []));
  return [
    { folder: URL.parse(baseUrl ?? '')?.pathname ?? '/', prefix: '' },
    ...websites.map(({ url, prefix }) => ({ folder: scopeOf(url).folder, prefix: `/${prefix}` })),
  ].map(({ folder, prefix }) => ({ folder: withoutIndex(pathOf(folder)), prefix }));
}

function pathBelow(folder: string, path: string): string | null {
  if (folder === '' || path === folder) return path.slice(folder.length);
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : null;
}

/** The page of a folder has the folder's path; that of the root is empty. */
function withoutIndex(path: string): string {
  return path.replace(/(?:^|\/)index$/, '');
}
