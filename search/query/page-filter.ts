import { facetTerm, facetsOf } from '../build/facets.ts';
import { includingLanguages, languageOf } from '../build/languages.ts';
import type { PageMetadata } from '../read/source-page.ts';
import type { SearchFilter } from './search-request.ts';

/** Returns the filter as a part of the full-text query; null for none, `none` when nothing can match. */
export function filterQuery(filter: SearchFilter, mainLanguage: string): string | null | 'none' {
  const choices = facetChoices(filter, mainLanguage);
  if (choices === null) return 'none';
  const parts = choices.map((terms) => `(${terms.map((term) => `"${term}"`).join(' OR ')})`);
  return parts.length === 0 ? null : `{facets} : (${parts.join(' AND ')})`;
}

/** Narrows a filter to the pages of a version and those of none. */
export function withinVersion(facets: string | null, version: string): string {
  const own = `{facets} : ("${facetTerm('version', version)}" OR "${facetTerm('version', '')}")`;
  return facets === null ? own : `(${facets}) AND (${own})`;
}

/** Returns a function that reports whether a page matches the filter, as its passages do; null when every page does. */
export function createPageFilter(
  filter: SearchFilter,
  mainLanguage: string,
): ((metadata: PageMetadata) => boolean) | null {
  const choices = facetChoices(filter, mainLanguage);
  if (choices === null) return () => false;
  if (choices.length === 0) return null;
  return (metadata) => {
    const facets = new Set(facetsOf({ path: '', metadata, restrictedTo: null }));
    return choices.every((choice) => choice.some((term) => facets.has(term)));
  };
}

/**
 * Returns the facets of a filter, of each of which a page has one; null when nothing can match. A page without a
 * language counts as in the main one.
 */
function facetChoices({ language, version, tag, groups }: SearchFilter, mainLanguage: string): string[][] | null {
  const values = [language, version, tag, ...(groups ?? [])];
  if (values.some((value) => value !== undefined && value.trim() === '')) return null;
  const choices: string[][] = [];
  if (language !== undefined) {
    const wanted = languageOf(language);
    const isMain = includingLanguages(mainLanguage).includes(wanted);
    choices.push([facetTerm('language', wanted), ...(isMain ? [facetTerm('language', '')] : [])]);
  }
  if (version !== undefined) choices.push([facetTerm('version', version)]);
  if (tag !== undefined) choices.push([facetTerm('tag', tag)]);
  if (groups !== undefined && groups.length > 0)
    choices.push(groups.slice(0, 100).map((group) => facetTerm('group', group)));
  return choices;
}
