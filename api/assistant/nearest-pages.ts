import type { SearchHit } from '../../search/query/search-request.ts';
import { createLinkChecker, type LinkTarget } from './links/check-links.ts';
import { urlOf } from './retrieve.ts';

const maxPages = 3;
/** Passages with a lower share of the score that an answer needs have little to do with the question. */
const nearShare = 0.6;

/**
 * Returns what follows an answer that the documentation does not cover, as Markdown: the pages that come closest, and
 * the site's contact. Empty when there is neither.
 */
export function nearestPagesOf({
  hits,
  weakScore,
  cited,
  resolve,
  site: { baseUrl, contact },
}: {
  hits: SearchHit[];
  weakScore: number;
  /** Paths of pages that the answer names itself. */
  cited: readonly string[];
  resolve(url: string): LinkTarget | null;
  site: { baseUrl: string | null; contact: string | null };
}): string {
  const near = hits.filter(({ path, score }) => score >= weakScore * nearShare && !cited.includes(path));
  const pages = near.filter(({ path }, position) => near.findIndex((hit) => hit.path === path) === position);
  const links = pages
    .slice(0, maxPages)
    .map((hit) => `- [${escaped(hit.title || hit.path)}](<${urlOf({ ...hit, anchor: null }, baseUrl)}>)\n`);
  const lists = links.length === 0 ? [] : [`The nearest pages:\n\n${links.join('')}`];
  const contacts = contact === null ? [] : [`[Ask a person](<${contact}>)`];
  // titles are text of the documentation, and checked like what a model writes
  const checker = createLinkChecker((url) => (url === contact ? { url, path: null } : resolve(url)));
  const text = [...lists, ...contacts].map((part) => `\n\n${part}`).join('');
  return checker.push(text).text + checker.flush().text;
}

function escaped(title: string): string {
  return title.replace(/\s+/g, ' ').replace(/[\\[\]`<]/g, (character) => `\\${character}`);
}
