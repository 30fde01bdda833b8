import type { Element, Root } from 'hast';
import type { Nodes } from 'mdast';
import { fromHtml } from 'hast-util-from-html';
import { toMdast } from 'hast-util-to-mdast';
import { gfmTableToMarkdown } from 'mdast-util-gfm-table';
import { toMarkdown } from 'mdast-util-to-markdown';
import { textOf, type FrontMatter } from '../front-matter.ts';
import { markAnchors, writeAnchors } from './html-anchors.ts';
import { classesOf, elementsOf, findElement, mainContentOf, wordsOf } from './main-content.ts';
import { agentName, robotsRulesOf } from './robots-rules.ts';

/** Longest page that is parsed, in characters. */
const maxHtmlLength = 2_000_000;

const isDocument = /<(?:!doctype|html|body|main|article)[\s>]/i;

const refresh = /^\s*\d{1,2}(?:\.\d*)?[;,\s]+(?:url\s*=\s*)?["']?([^"']+)/i;

const closable =
  /<(\/?)(?:a|article|b|big|blockquote|code|desc|div|em|font|i|nobr|ol|pre|s|section|small|span|strike|strong|svg|table|tt|u|ul)[\s/>]/gi;
/** Parsing time is quadratic in the number of elements that are open at once. */
const maxOpen = 200;

/**
 * Reads the main content of an HTML page as Markdown, with what its head states as front matter. Returns null for
 * fragments, templates and pages that only redirect. Throws RangeError for elements nested too deeply.
 */
export function readHtml(text: string): FrontMatter | null {
  if (!isReadable(text) || /\{%[^%]*%\}/.test(text)) return null;
  const root = fromHtml(text);
  const metas = metasOf(root);
  return metas.has('refresh') ? null : frontMatterOf(root, metas);
}

/** A page of a published website. */
export interface WebPage {
  /** Its main content, with absolute links; null if it has none. */
  page: FrontMatter | null;
  /** URL that it states as its own. */
  canonical: string | null;
  /** URLs of its links, in order. */
  links: string[];
}

/**
 * Reads a page of a published website. The content is null for a page that robots may not index, and the links are
 * empty for a page whose links they may not follow. A page that only redirects has no content and one link, its target.
 * Returns null if the text is not an HTML document. Throws RangeError for elements nested too deeply.
 */
export function readWebPage(text: string, address: URL): WebPage | null {
  if (!isReadable(text)) return null;
  const root = fromHtml(text);
  const metas = metasOf(root);
  const { mayIndex, mayFollow } = robotsRulesOf(metas.get('robots') ?? '');
  const links = new Set(makeAbsolute(root, address));
  const target = redirectOf(root, address);
  if (target !== null) links.add(target);
  const canonical = findElement(
    root,
    ({ tagName, properties }) => tagName === 'link' && String(properties.rel).toLowerCase() === 'canonical',
  )?.properties.href;
  return {
    page: mayIndex && target === null ? frontMatterOf(root, metas) : null,
    canonical: typeof canonical === 'string' ? (URL.parse(canonical, address)?.href ?? null) : null,
    links: mayFollow ? [...links] : [],
  };
}

function isReadable(text: string): boolean {
  return text.length <= maxHtmlLength && isDocument.test(text.slice(0, 20_000)) && openAtOnce(text) <= maxOpen;
}

/** Returns the target of a page that redirects by its head; null if it does not, or only reloads itself. */
function redirectOf(root: Root, address: URL): string | null {
  const head = findElement(root, ({ tagName }) => tagName === 'head');
  for (const child of head?.children ?? []) {
    if (child.type !== 'element' || !/^refresh$/i.test(String(child.properties.httpEquiv))) continue;
    const [, target = ''] = refresh.exec(String(child.properties.content)) ?? [];
    const url = URL.parse(target, address);
    if (url !== null && url.href.split('#', 1)[0] !== address.href) return url.href;
  }
  return null;
}

/** Makes the links of a page absolute and returns those that robots may follow. */
function makeAbsolute(root: Root, address: URL): string[] {
  const base = findElement(root, ({ tagName }) => tagName === 'base')?.properties.href;
  const from = (typeof base === 'string' ? URL.parse(base, address) : null) ?? address;
  const links: string[] = [];
  for (const { tagName, properties } of elementsOf(root)) {
    if (tagName !== 'a' || typeof properties.href !== 'string') continue;
    const url = URL.parse(properties.href, from);
    properties.href = url?.href;
    if (url !== null && !/\bnofollow\b/i.test(String(properties.rel))) links.push(url.href);
  }
  return links;
}

function frontMatterOf(root: Root, metas: ReadonlyMap<string, string>): FrontMatter | null {
  const main = mainContentOf(root);
  const body = main === null ? '' : markdownOf({ type: 'root', children: [main] });
  if (body === '') return null;
  const html = findElement(root, ({ tagName }) => tagName === 'html');
  const values: Record<string, unknown> = {};
  for (const name of ['description', 'keywords']) if (metas.has(name)) values[name] = metas.get(name);
  // a page with invalid groups is hidden from everyone
  if (metas.has('groups')) values.groups = textOf(metas.get('groups')) ?? {};
  if (!robotsRulesOf(metas.get('robots') ?? '').mayIndex) values.noindex = true;
  if (typeof html?.properties.lang === 'string') values.lang = html.properties.lang;
  const title = main === null ? null : (findElement(main, ({ tagName }) => tagName === 'h1') ?? titleOf(root));
  if (title?.tagName === 'title') values.title = wordsOf(title).split(/(?<!\s)\s+[|—·–]\s+/, 1)[0];
  return { values, body };
}

/**
 * Returns the main content of any HTML as Markdown, with its title as the first line and with absolute links. Returns null for
 * elements nested too deeply to be parsed.
 */
export function webPageToMarkdown(text: string, address: URL): string | null {
  if (openAtOnce(text) > maxOpen) return null;
  const root = fromHtml(text);
  const title = wordsOf(titleOf(root) ?? { type: 'element', tagName: 'title', properties: {}, children: [] }).trim();
  const main = mainContentOf(root);
  makeAbsolute(root, address);
  const body = main === null ? '' : markdownOf({ type: 'root', children: [main] });
  return title === '' ? body : `Title: ${title}\n\n${body}`;
}

/** Returns a fragment of HTML, such as a converter's output, as Markdown. */
export function htmlToMarkdown(html: string): string {
  return markdownOf(fromHtml(html, { fragment: true }));
}

/** Returns a post of a forum as Markdown with absolute links, without the names and sizes that the forum adds. */
export function postToMarkdown(html: string, address: URL): string {
  const root = fromHtml(html, { fragment: true });
  for (const element of elementsOf(root)) {
    const added = addedByForum.find(([parent]) => classesOf(element).includes(parent))?.[1];
    element.children = element.children.filter((child) => {
      return added === undefined || child.type !== 'element' || !classesOf(child).includes(added);
    });
  }
  makeAbsolute(root, address);
  return markdownOf(root);
}

/** The author of a quote, and the file name of an image. */
const addedByForum: [parent: string, child: string][] = [
  ['quote', 'title'],
  ['lightbox', 'meta'],
];

/** Returns the largest number of these elements that are open at once. */
function openAtOnce(text: string): number {
  let open = 0;
  let most = 0;
  for (const match of text.matchAll(closable)) {
    open += match[1] === '' ? 1 : -1;
    most = Math.max(most, open);
  }
  return most;
}

function titleOf(root: Root): Element | null {
  return findElement(root, ({ tagName }) => tagName === 'title');
}

function metasOf(root: Root): Map<string, string> {
  const metas = new Map<string, string>();
  for (const { tagName, properties } of elementsOf(root)) {
    if (tagName === 'body') break;
    const { content, httpEquiv } = properties;
    if (tagName !== 'meta' || typeof content !== 'string') continue;
    const named = String(properties.name ?? (Array.isArray(httpEquiv) ? httpEquiv[0] : undefined)).toLowerCase();
    const name = named === agentName ? 'robots' : named;
    const earlier = metas.get(name);
    if (earlier !== undefined && name === 'groups') metas.set(name, '');
    else metas.set(name, earlier !== undefined && name === 'robots' ? `${earlier}, ${content}` : content);
  }
  return metas;
}

function markdownOf(root: Root): string {
  root.children = root.children.filter(({ type }) => type !== 'comment');
  showCaptions(root);
  for (const element of elementsOf(root)) {
    element.children = element.children.filter(({ type }) => type !== 'comment');
    separateTabs(element);
    simplify(element);
    nameLanguage(element);
    showCaptions(element);
    replaceAdmonition(element);
  }
  markAnchors(root);
  return writeAnchors(writeMarkdown(toMdast(root)));
}

/** Writes Markdown without escapes inside of words, which search would not find. */
export function writeMarkdown(tree: Nodes): string {
  return toMarkdown(tree, {
    bullet: '-',
    rule: '-',
    fences: true,
    extensions: [gfmTableToMarkdown({ tablePipeAlign: false })],
    // the default escapes underscores and asterisks inside words, which would no longer be found
    handlers: {
      text: ({ value }: { value: string }) =>
        value.replaceAll(/<(?=[a-z/!])|&(?=#?\w{1,31};)|^#(?=#*\s)/gi, String.raw`\$&`),
    },
  }).trim();
}

/** An image becomes its description. A link that leads nowhere becomes its words, and deleted text keeps its marks. */
function simplify(element: Element): void {
  const { alt, href } = element.properties;
  const isLink = typeof href === 'string' && !/^\s*(?:javascript|data):/i.test(href) && isShown(element);
  if (element.tagName === 'img') element.children = [{ type: 'text', value: typeof alt === 'string' ? alt : '' }];
  const isDeleted = /^(?:del|s|strike)$/.test(element.tagName);
  if (isDeleted) element.children = [{ type: 'text', value: '~~' }, ...element.children, { type: 'text', value: '~~' }];
  if (element.tagName === 'img' || isDeleted || (element.tagName === 'a' && !isLink)) element.tagName = 'span';
}

function isShown(element: Element): boolean {
  return wordsOf(element).trim() !== '' || findElement(element, ({ tagName }) => tagName === 'img') !== null;
}

/** Separates the names of tabs, which would otherwise run together without the style sheet. */
function separateTabs(element: Element): void {
  element.children = element.children.flatMap((child) => {
    const isTab = child.type === 'element' && (child.tagName === 'label' || child.properties.role === 'tab');
    return isTab ? [child, { type: 'text', value: ' ' }] : [child];
  });
}

/**
 * Sets the language of code blocks, which the element around them (Sphinx, MkDocs, VitePress) or their own attribute
 * (Starlight) names.
 */
function nameLanguage(element: Element): void {
  const language = languageOf(element);
  if (language === null) return;
  // VitePress shows the name in a corner
  element.children = element.children.filter((child) => child.type !== 'element' || !classesOf(child).includes('lang'));
  for (const pre of [element, ...elementsOf(element)]) {
    if (pre.tagName !== 'pre') continue;
    const found = findElement(pre, ({ tagName }) => tagName === 'code');
    const code: Element = found ?? { type: 'element', tagName: 'code', properties: {}, children: pre.children };
    if (found === null) pre.children = [code];
    if (!classesOf(code).some((name) => name.startsWith('language-')))
      code.properties.className = [...classesOf(code), `language-${language}`];
  }
}

function languageOf(element: Element): string | null {
  const { dataLanguage } = element.properties;
  if (element.tagName !== 'pre' && element.tagName !== 'div') return null;
  const named = classesOf(element).map((name) => /^(?:language|highlight)-(?:source-)?([\w+#-]+)$/.exec(name)?.[1]);
  const language = typeof dataLanguage === 'string' ? dataLanguage : named.find((name) => name !== undefined);
  // Sphinx and others use these names for a block without a language
  return language === undefined || /^(?:default|none|text|plaintext)$/.test(language) ? null : language;
}

/** Moves the captions of tables in front of them, because Markdown has no captions. */
function showCaptions(parent: Root | Element): void {
  const children = parent.children.flatMap((child) => {
    const isTable = child.type === 'element' && child.tagName === 'table';
    const caption = isTable ? findElement(child, ({ tagName }) => tagName === 'caption') : null;
    return caption === null ? [child] : [{ ...caption, tagName: 'p' }, child];
  });
  Object.assign(parent, { children });
}

/** Asciidoctor lays out its admonitions in tables. */
function replaceAdmonition(element: Element): void {
  if (element.tagName !== 'div' || !classesOf(element).includes('admonitionblock')) return;
  const label = findElement(element, (inner) => classesOf(inner).includes('title') || inner.tagName === 'i');
  const content = findElement(element, (inner) => classesOf(inner).includes('content'));
  if (content === null) return;
  const name = label === null ? '' : wordsOf(label).trim() || String(label.properties.title ?? '');
  const strong: Element = {
    type: 'element',
    tagName: 'strong',
    properties: {},
    children: [{ type: 'text', value: `${name}:` }],
  };
  element.tagName = 'blockquote';
  element.children = [{ type: 'element', tagName: 'p', properties: {}, children: [strong] }, ...content.children];
}
