import type { PageMetadata } from '../../search/read/source-page.ts';
import type { SearchFilter } from '../../search/query/search-request.ts';

/**
 * Reports whether a page may be read and cited under a reader's filter, so that tools and links reach no further than
 * search does. A page without a language matches every language.
 */
export function matchesFilter(filter: SearchFilter | null, { version, language, tags, groups }: PageMetadata): boolean {
  if (filter === null) return true;
  return (
    isOneOf(filter.version, [version ?? '']) &&
    (language === undefined || isOneOf(filter.language, [language])) &&
    isOneOf(filter.tag, tags ?? []) &&
    (filter.groups === undefined ||
      filter.groups.length === 0 ||
      filter.groups.some((group) => isOneOf(group, groups ?? [])))
  );
}

function isOneOf(wanted: string | undefined, values: string[]): boolean {
  if (wanted === undefined) return true;
  return wanted.trim() !== '' && values.some((value) => normalised(value) === normalised(wanted));
}

function normalised(value: string): string {
  return value.trim().toLowerCase().normalize('NFC');
}
