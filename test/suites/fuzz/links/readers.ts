import MarkdownIt from 'markdown-it';
import { marked } from 'marked';
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';
import { parseFragment, type DefaultTreeAdapterMap } from 'parse5';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import ReactMarkdown from 'react-markdown';
import rehypeRaw from 'rehype-raw';
import remarkGfm from 'remark-gfm';

/** A reader of Markdown as applications use it, in its most careless settings: it makes HTML of a text. */
export interface MarkdownReader {
  name: string;
  render(text: string): string;
}

function markdownIt(name: string, options: { html: boolean; linkify: boolean }): MarkdownReader {
  const parser = new MarkdownIt(options);
  parser.validateLink = () => true;
  parser.linkify.set({ fuzzyLink: true, fuzzyIP: true });
  return { name, render: (text) => parser.render(text) };
}

/** React's own, for the images that follow. */
const preloads = /^(?:<link rel="preload" as="image" href="[^"]*"\/>)+/;

function reactMarkdown(name: string, settings: object): MarkdownReader {
  const options = { remarkPlugins: [remarkGfm], urlTransform: (url: string) => url, ...settings };
  return {
    name,
    render: (text) => renderToStaticMarkup(createElement(ReactMarkdown, options, text)).replace(preloads, ''),
  };
}

const dangerous = { allowDangerousHtml: true, allowDangerousProtocol: true };

export const readers: MarkdownReader[] = [
  { name: 'micromark', render: (text) => micromark(text, dangerous) },
  {
    name: 'micromark with GFM',
    render: (text) => micromark(text, { ...dangerous, extensions: [gfm()], htmlExtensions: [gfmHtml()] }),
  },
  { name: 'marked', render: (text) => marked.parse(text, { async: false }) },
  { name: 'marked without GFM', render: (text) => marked.parse(text, { async: false, gfm: false }) },
  markdownIt('markdown-it', { html: false, linkify: false }),
  markdownIt('markdown-it with linkify', { html: false, linkify: true }),
  markdownIt('markdown-it with HTML', { html: true, linkify: false }),
  markdownIt('markdown-it with HTML and linkify', { html: true, linkify: true }),
  reactMarkdown('react-markdown with GFM', {}),
  reactMarkdown('react-markdown with GFM and HTML', { rehypePlugins: [rehypeRaw] }),
];

type Node = DefaultTreeAdapterMap['node'];

const elements = new Set(
  'p a img em strong del s code pre ul ol li blockquote h1 h2 h3 h4 h5 h6 hr br table thead tbody tr th td input'.split(
    ' ',
  ),
);
const harmless = new Set(['class', 'title', 'alt', 'align', 'style', 'start', 'type', 'checked', 'disabled', 'node']);

/** Every address that a rendered text leads to or loads; an element that Markdown does not make counts as one. */
export function addressesIn(html: string): Set<string> {
  const found = new Set<string>();
  const waiting: Node[] = [parseFragment(html)];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if ('childNodes' in node) waiting.push(...node.childNodes);
    if (!('attrs' in node)) continue;
    if (!elements.has(node.tagName)) found.add(`<${node.tagName}>`);
    for (const { name, value } of node.attrs) {
      const isAlignment = name === 'style' && /^text-align: ?\w+;?$/.test(value);
      if (harmless.has(name) && (name !== 'style' || isAlignment)) continue;
      found.add(normal(value));
    }
  }
  return found;
}

/** Readers percent-encode differently. */
export function normal(address: string): string {
  try {
    return decodeURI(address).replaceAll(/%(?:2[789A]|7E)/gi, (code) => decodeURIComponent(code));
  } catch {
    return address;
  }
}
