import type { SourcePage } from '../read/source-page.ts';
import { includingLanguages } from './languages.ts';

/** Returns a page's facets as terms of the index, so that a filter is part of the full-text query. */
export function facetsOf({
  path,
  metadata,
  restrictedTo,
}: Pick<SourcePage, 'path' | 'metadata' | 'restrictedTo'>): string[] {
  const languages = [metadata.language ?? '', ...(metadata.shownIn ?? [])].flatMap(includingLanguages);
  return [
    ...(restrictedTo === null ? [] : [restrictedTerm, ...restrictedTo.map(readerTerm)]),
    ...[...new Set(languages)].map((language) => facetTerm('language', language)),
    facetTerm('version', metadata.version ?? ''),
    ...(metadata.tags ?? []).map((tag) => facetTerm('tag', tag)),
    ...(metadata.groups ?? []).map((group) => facetTerm('group', group)),
    facetTerm('page', path),
  ];
}

/** Returns a facet as a term that no text can contain. */
export function facetTerm(kind: string, value: string): string {
  const bytes = Buffer.from(value.trim().toLowerCase().normalize('NFC'), 'utf8');
  return `._${kind}_${bytes.toString('hex')}`;
}

/** Facet of the passages of a page that only some groups may read. */
export const restrictedTerm = facetTerm('restricted', '');

/** Returns the facet of a group that may read a page. Case and surrounding blanks do not matter. */
export function readerTerm(group: string): string {
  return facetTerm('reader', group);
}

/** Returns the group of a reader's facet. */
export function groupOfReader(term: string): string {
  return Buffer.from(term.slice(term.lastIndexOf('_') + 1), 'hex').toString('utf8');
}
