import type { Element, ElementContent, Root } from 'hast';
import { slugOf } from '../anchors.ts';
import { elementsOf, wordsOf } from './main-content.ts';

/** Elements whose text may start with an anchor; the anchors of `outside` stand before them. */
const inside = /^(?:p|li|dt|dd|td|th|div|section|figure|figcaption|blockquote|details|summary|span|em|strong|b|i)$/;
const outside = /^(?:table|pre|ul|ol|dl|a|code)$/;
/** Ids that generators give to tabs, footnotes, entries of an index and lines of code. */
const generated = /^(?:__|fn(?:ref)?[:\d]|(?:tab|panel|tabpanel)-|(?:id|cb|index-)\d+(?:-\d+)?$)/;
const mark = /\uE000([^\uE000\uE001]+)\uE001/g;

/**
 * Marks the ids that links could not reach otherwise, because Markdown keeps only the ids of headings. `writeAnchors`
 * writes the marks.
 */
export function markAnchors(root: Root): void {
  const inCode = new Set<Element>();
  for (const element of elementsOf(root)) {
    if (/^(?:pre|code)$/.test(element.tagName)) for (const part of elementsOf(element)) inCode.add(part);
    if (inCode.has(element)) continue;
    nameHeading(element);
    markChildren(element);
    if (inside.test(element.tagName)) element.children.unshift(...marksOf(element));
  }
  markChildren(root);
}

function markChildren(parent: Root | Element): void {
  const children = parent.children.flatMap((child) =>
    child.type === 'element' && outside.test(child.tagName) ? [...marksOf(child), child] : [child],
  );
  Object.assign(parent, { children });
}

/** Replaces the marks in the text of a page by anchors. */
export function writeAnchors(text: string): string {
  return text.replace(mark, '<a id="$1"></a>');
}

function marksOf({ tagName, properties }: Element): ElementContent[] {
  const id = properties.id ?? (/^(?:a|span)$/.test(tagName) ? properties.name : undefined);
  if (typeof id !== 'string' || !/^[^\s"<>{}\uE000\uE001]{1,200}$/.test(id) || generated.test(id)) return [];
  return [{ type: 'text', value: `\uE000${id}\uE001` }];
}

/**
 * Keeps the id of a heading, or of the section that it starts, unless it equals the id derived from the heading's text.
 */
function nameHeading(element: Element): void {
  const heading = isHeading(element) ? element : headingOf(element);
  if (heading === null) return;
  const id = heading.properties.id ?? element.properties.id;
  delete heading.properties.id;
  delete element.properties.id;
  if (typeof id !== 'string' || /[\s{}]/.test(id) || id === slugOf(wordsOf(heading).trim())) return;
  heading.children.push({ type: 'text', value: ` {#${id}}` });
}

/** Returns the heading that an element begins with. Anchors before it become part of it. */
function headingOf(element: Element): Element | null {
  const elements = element.children.filter((child) => child.type === 'element');
  const at = elements.findIndex((child) => !/^(?:a|span)$/.test(child.tagName) || wordsOf(child) !== '');
  const heading = elements[at];
  if (heading === undefined || !isHeading(heading)) return null;
  const anchors: ElementContent[] = elements.slice(0, at);
  element.children = element.children.filter((child) => !anchors.includes(child));
  heading.children.unshift(...anchors);
  return heading;
}

function isHeading({ tagName }: Element): boolean {
  return /^h[1-6]$/.test(tagName);
}
