import type { Definition, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { gfmTableFromMarkdown } from 'mdast-util-gfm-table';
import { gfmTable } from 'micromark-extension-gfm-table';

/** Parses Markdown with tables. HTML in it stays text. */
export function parseMarkdown(text: string): Root {
  return fromMarkdown(text, { extensions: [gfmTable()], mdastExtensions: [gfmTableFromMarkdown()] });
}

/** Returns the definitions that reference links in a document use, by identifier. */
export function definitionsOf(root: Root): Map<string, Definition> {
  return new Map(root.children.flatMap((node) => (node.type === 'definition' ? [[node.identifier, node]] : [])));
}

/** Returns the text of a node without its formatting, with blocks on their own lines. */
export function plainTextOf(node: Nodes): string {
  if ('value' in node) return node.value;
  if (node.type === 'break') return '\n';
  if ('alt' in node) return node.alt ?? '';
  if (!('children' in node)) return '';
  const isBlock = node.type === 'root' || node.type === 'list' || node.type === 'table' || node.type === 'blockquote';
  const isRow = node.type === 'tableRow' || node.type === 'listItem';
  const children: Nodes[] = node.children;
  return children.map(plainTextOf).join(isBlock ? '\n' : isRow ? ' ' : '');
}

/** Returns the first paragraph of a text that has at least `minWords` words, without formatting. */
export function firstParagraph(markdown: string, minWords: number): string | null {
  for (const node of parseMarkdown(markdown).children) {
    if (node.type !== 'paragraph') continue;
    const text = plainTextOf(node).replaceAll(/\s+/g, ' ').trim();
    if (text.split(' ').length >= minWords) return text;
  }
  return null;
}
