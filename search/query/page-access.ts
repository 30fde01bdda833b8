import { readerTerm, restrictedTerm } from '../build/facets.ts';

/** Which pages with `groups` may be read: all of them, or those of a reader who is in these groups. */
export type PageAccess = 'all' | { groups: readonly string[] };

/** Access of a reader who proves no group. */
export const publicPages: PageAccess = { groups: [] };

/** Returns the passages that a reader may not see, as a full-text query; null when none are hidden. */
export function hiddenFrom(access: PageAccess): string | null {
  if (access === 'all') return null;
  const allowed = access.groups.map((group) => `"${readerTerm(group)}"`);
  const own = allowed.length === 0 ? '' : ` NOT (${allowed.join(' OR ')})`;
  return `{facets} : ("${restrictedTerm}"${own})`;
}

/** Returns the terms of a reader's groups as a JSON array; null for access to all pages. */
export function termsOf(access: PageAccess): string | null {
  return access === 'all' ? null : JSON.stringify(access.groups.map(readerTerm));
}

/** Condition for a page to be readable with the terms ?3 of a reader's groups; null stands for all of them. */
export const isReadable = `(?3 is null or readers is null or exists (
  select 1 from json_each(readers) as reader join json_each(?3) as own on own.value = reader.value))`;
