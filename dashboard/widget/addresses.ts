import type { Passage } from './client.ts';
import { firstParagraph } from './answer/markdown-tree.ts';

/**
 * Returns the address that a link of an answer leads to. Only http, https and mailto are allowed; a relative link is resolved
 * against `pagesUrl`. Returns null for any other link.
 */
export function hrefOf(address: string, pagesUrl: string): string | null {
  try {
    const url = new URL(address, pagesUrl);
    return /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/** Words at each end of a passage that identify it. */
const endWords = 5;

/** Adds a text fragment to an address, so that the browser scrolls to the passage and highlights it. */
export function highlighted(href: string, passage: string): string {
  const words = firstParagraph(passage, 3)?.split(' ');
  if (words === undefined) return href;
  const ends =
    words.length <= endWords * 2
      ? [words.join(' ')]
      : [words.slice(0, endWords).join(' '), words.slice(-endWords).join(' ')];
  const text = ends.map((end) => encodeURIComponent(end).replaceAll('-', '%2D')).join(',');
  return `${href}${href.includes('#') ? '' : '#'}:~:text=${text}`;
}

/** Returns the best passage of a source: of its section if the source names one, else of its page. */
export function passageOfSource(href: string, passages: Passage[]): Passage | null {
  const { pathname, hash } = new URL(href);
  const path = withoutIndex(decode(pathname));
  const anchor = decode(hash.slice(1));
  const ofPage = passages.filter((passage) => {
    const end = withoutIndex(`/${passage.path}`);
    return end === '' ? path === '' : path.endsWith(end);
  });
  if (anchor === '') return ofPage[0] ?? null;
  return ofPage.find((passage) => passage.anchor === anchor) ?? null;
}

function withoutIndex(path: string): string {
  return path.replace(/(?:\/index)?(?:\.html?|\.mdx?)?(?<!\/)\/*$/, '');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
