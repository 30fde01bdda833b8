import type { DocsLocation } from '../../db/sites/threads.ts';
import type { SearchHit } from '../../search/query/search-request.ts';
import type { PageMetadata } from '../../search/read/source-page.ts';
import type { LeasedIndex } from './site-indexes.ts';

const maxNameLength = 200;

/**
 * Returns where in the documentation a question belongs. Its topic is the section of the first page that the answer
 * cites, or else of the best passage; its version and language are those of the page that the reader was looking at.
 */
export function docsLocationOf(
  index: Pick<LeasedIndex, 'page'>,
  {
    viewed,
    cited,
    found,
  }: { viewed: string | null; cited: readonly string[]; found: readonly Pick<SearchHit, 'path' | 'metadata'>[] },
): DocsLocation {
  const subjects = [...cited.slice(0, 1), ...found.slice(0, 1).map(({ path }) => path)];
  const seen = viewed === null ? [] : [viewed];
  // what a search found need not be read again
  const pageOf = (path: string) => found.find((hit) => hit.path === path) ?? index.page(path);
  const subject = firstPage(pageOf, [...subjects, ...seen]);
  const context = firstPage(pageOf, [...seen, ...subjects])?.metadata;
  return {
    topic: subject === null ? null : sectionOf(subject).slice(0, maxNameLength),
    version: context?.version?.slice(0, maxNameLength) ?? null,
    language: context?.language?.slice(0, maxNameLength) ?? null,
  };
}

function firstPage<Page>(pageOf: (path: string) => Page | null, paths: readonly string[]): Page | null {
  for (const path of paths) {
    const page = pageOf(path);
    if (page !== null) return page;
  }
  return null;
}

/** Returns the folder of a page, without its version and language; a page outside of folders is its own section. */
export function sectionOf({ path, metadata }: { path: string; metadata: Pick<PageMetadata, 'version' | 'language'> }) {
  const own = path.split('/');
  const rest = own.filter((name, at) => at > 1 || (name !== metadata.version && name !== metadata.language));
  return rest.slice(0, -1).join('/') || (rest[0] ?? path);
}
