import type { Heading, Nodes, Parents, RootContent } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import type { FrontMatter } from '../front-matter.ts';
import { nodesOfHtml } from './html-in-markdown.ts';
import { postToMarkdown, writeMarkdown } from './html.ts';

/** A question and its answers, as people wrote them, in Markdown or HTML. */
export interface ThreadText {
  url: string;
  title: string;
  isHtml: boolean;
  question: string;
  /** In the order of the thread. */
  replies: { heading: string; text: string }[];
}

/**
 * Reads a thread as a page with a section per reply. HTML becomes Markdown, images become their descriptions, and links
 * lead to websites only. Takes time quadratic in hostile text. Throws RangeError for markup that is nested too deeply.
 */
export function readThread({ url, title, isHtml, question, replies }: ThreadText): FrontMatter {
  const bodyOf = (text: string) => inert(isHtml ? postToMarkdown(text, new URL(url)) : text);
  const sections = replies.map(({ heading, text }) => `## ${heading}\n\n${bodyOf(text)}`);
  return { values: { title: title.trim(), url }, body: [bodyOf(question), ...sections].join('\n\n').trim() };
}

function inert(text: string): string {
  const root = fromMarkdown(text);
  const targets = new Map<string, string>();
  for (const node of descendantsOf(root))
    if (node.type === 'definition' && !targets.has(node.identifier)) targets.set(node.identifier, node.url);
  simplify(root, targets);
  return writeMarkdown(root);
}

function* descendantsOf(node: Nodes): Generator<Nodes> {
  yield node;
  if ('children' in node) for (const child of node.children) yield* descendantsOf(child);
}

function simplify(parent: Parents, targets: ReadonlyMap<string, string>): void {
  const children: RootContent[] = [];
  for (const child of parent.children) children.push(...simplified(child, parent, targets));
  Object.assign(parent, { children });
}

function simplified(node: RootContent, parent: Parents, targets: ReadonlyMap<string, string>): RootContent[] {
  if ('children' in node) simplify(node, targets);
  if (node.type === 'definition') return [];
  if (node.type === 'image' || node.type === 'imageReference') return [{ type: 'text', value: node.alt ?? '' }];
  // below the headings of the page
  if (node.type === 'heading') return [{ ...node, depth: deeper[node.depth] }];
  if (node.type === 'html') return nodesOfHtml(node.value, parent);
  const target =
    node.type === 'link' ? node.url : node.type === 'linkReference' ? targets.get(node.identifier) : undefined;
  if (node.type !== 'link' && node.type !== 'linkReference') return [node];
  if (target === undefined || !/^(?:https?:|mailto:)/i.test(target)) return node.children;
  return [{ type: 'link', url: target, children: node.children }];
}

const deeper: Record<Heading['depth'], Heading['depth']> = { 1: 3, 2: 4, 3: 5, 4: 6, 5: 6, 6: 6 };
