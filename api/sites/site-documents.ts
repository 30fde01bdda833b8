import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ListedPage, SitePages } from '../../search/query/site-index.ts';

/** Pages per part of a list. */
const maxListed = 1_000;
/** A part of the full text ends after the page with which it reaches this length, in characters. */
const maxPartLength = 1_000_000;
const maxDescriptionLength = 300;

export interface PagesPart {
  pages: ListedPage[];
  /** Position from which the list continues; null at its end. */
  next: number | null;
}

export interface DocumentPart {
  text: string;
  next: number | null;
}

/** Returns a part of the list of pages. */
export function pagesFrom(index: SitePages, { from, limit }: { from: number; limit: number }): PagesPart {
  const pages = index.pages({ from, limit: limit + 1 });
  return { pages: pages.slice(0, limit), next: pages[limit]?.position ?? null };
}

/** Returns a part of `llms.txt`: a link to the Markdown of each page, relative to the file. */
export function linkListOf(index: SitePages, { domain, from }: { domain: string; from: number }): DocumentPart {
  const { pages, next } = pagesFrom(index, { from, limit: maxListed });
  const links = pages.map(({ path, metadata: { title, description } }) => {
    const about = description === undefined ? '' : `: ${oneLine(description).slice(0, maxDescriptionLength)}`;
    return `- [${escaped(title)}](${linkTo(path)})${about}`;
  });
  const more = next === null ? [] : ['', `[More pages](llms.txt?from=${next})`];
  return { text: `${[`# ${domain}`, '', '## Pages', '', ...links, ...more].join('\n')}\n`, next };
}

/** Returns a part of `llms-full.txt`: whole pages, each below its title and its link. */
export async function fullTextOf(index: SitePages, from: number): Promise<DocumentPart> {
  const { pages, next } = pagesFrom(index, { from, limit: maxListed });
  let text = '';
  for (const { position, path, metadata } of pages) {
    if (text.length >= maxPartLength) return { text: continued(text, position), next: position };
    text += `# ${metadata.title}\n\nSource: ${linkTo(path)}\n\n${index.page(path)?.content.trim() ?? ''}\n\n`;
    // a large page takes milliseconds to decompress
    await nextTurn();
  }
  return { text: next === null ? text : continued(text, next), next };
}

function continued(text: string, next: number): string {
  return `${text}[More pages](llms-full.txt?from=${next})\n`;
}

/** Returns the URL of a page's Markdown, relative to `llms.txt`. */
function linkTo(path: string): string {
  return `${path.split('/').map(encodeURIComponent).join('/')}.md`;
}

function oneLine(text: string): string {
  return text.replaceAll(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim();
}

/** Escapes what would end a link's text. */
function escaped(title: string): string {
  return title.replaceAll(/[\\[\]]/g, String.raw`\$&`);
}
