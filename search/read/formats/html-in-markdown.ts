import type { Parents, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { htmlToMarkdown, writeMarkdown } from './html.ts';

const separating = /^<\/?(?:br|p|div|[uo]l|li|d[ltd]|t[rdh]|table|h[1-6]|pre|blockquote|section|hr)\b/i;

/** Converts an HTML node to Markdown nodes. Tags between words are separate nodes and are dropped. */
export function nodesOfHtml(html: string, parent: Parents): RootContent[] {
  const isBlock = parent.type !== 'paragraph' && parent.type !== 'heading';
  if (isBlock) return fromMarkdown(htmlToMarkdown(html)).children;
  return separating.test(html) ? [{ type: 'text', value: ' ' }] : [];
}

/** Returns a text in Markdown without its HTML. Throws RangeError for markup that is nested too deeply. */
export function withoutHtml(text: string): string {
  const root = fromMarkdown(text);
  simplify(root);
  return writeMarkdown(root);
}

function simplify(parent: Parents): void {
  const children: RootContent[] = [];
  for (const child of parent.children) {
    if ('children' in child) simplify(child);
    children.push(...(child.type === 'html' ? nodesOfHtml(child.value, parent) : [child]));
  }
  Object.assign(parent, { children });
}
