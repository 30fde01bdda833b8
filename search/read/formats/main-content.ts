import type { Element, Root } from 'hast';

/** The document proper, in the order in which it is looked for; the body where a page marks none. */
const mainMarks: ((element: Element) => boolean)[] = [
  ({ tagName }) => tagName === 'main',
  ({ properties }) => properties.role === 'main',
  ({ tagName }) => tagName === 'article',
  (element) => classesOf(element).some((name) => name === 'markdown-body' || name === 'theme-doc-markdown'),
  ({ properties }) => properties.id === 'content' || properties.id === 'main-content',
  ({ tagName }) => tagName === 'body',
];
const leftOut =
  /^(?:script|style|noscript|template|nav|footer|form|button|input|select|dialog|svg|iframe|object|embed|canvas|audio|video|link|meta|title)$/;
const leftOutRoles = new Set(['navigation', 'search', 'banner', 'contentinfo', 'complementary']);
const leftOutClasses =
  /^(?:headerlink|hash-link|header-anchor|anchor|breadcrumbs?|toc|table-of-contents|sphinxsidebar|related|pagination(?:-nav)?|edit-(?:link|this-page)|sr-only|visually-hidden)$/;

/** Words of a link to the source of a page, which has no class of its own in sites of Antora. */
const editLink = /^ ?edit (?:this|the) page ?$/i;

/** Returns the elements of a page that hold its own text, without navigation and other decoration. */
export function mainContentOf(root: Root): Element | null {
  for (const isMain of mainMarks) {
    const found = findElement(root, isMain);
    if (found === null) continue;
    // links to it lead to the page
    delete found.properties.id;
    prune(found, { isBody: found.tagName === 'body' });
    return found;
  }
  return null;
}

/** Returns the first element that passes a test, in the order of the document. */
export function findElement(root: Root | Element, test: (element: Element) => boolean): Element | null {
  for (const element of elementsOf(root)) if (test(element)) return element;
  return null;
}

/** Yields all elements below a node, in the order of the document. */
export function* elementsOf(root: Root | Element): Generator<Element> {
  const open: Element[] = childElements(root).reverse();
  for (let element = open.pop(); element !== undefined; element = open.pop()) {
    yield element;
    open.push(...childElements(element).reverse());
  }
}

export function classesOf({ properties }: Element): string[] {
  return Array.isArray(properties.className) ? properties.className.map(String) : [];
}

/** Returns the words of an element, with single blanks between them. */
export function wordsOf(element: Element): string {
  const words = element.children.map((child) => {
    if (child.type === 'text') return child.value;
    return child.type === 'element' ? wordsOf(child) : '';
  });
  return words.join('').replaceAll(/\s+/g, ' ');
}

function childElements({ children }: Root | Element): Element[] {
  return children.flatMap((child) => (child.type === 'element' ? [child] : []));
}

function prune(main: Element, { isBody }: { isBody: boolean }): void {
  main.children = main.children.filter((child) => child.type !== 'element' || !isDecoration(child, isBody));
  for (const element of elementsOf(main))
    element.children = element.children.filter((child) => child.type !== 'element' || !isDecoration(child, isBody));
}

function isDecoration(element: Element, isBody: boolean): boolean {
  const { tagName, properties } = element;
  if (leftOut.test(tagName) || leftOutRoles.has(String(properties.role))) return true;
  if (tagName === 'a' && editLink.test(wordsOf(element))) return true;
  // inside the main content, an aside is often a note, and a header holds the title
  if (isBody && (tagName === 'aside' || tagName === 'header')) return true;
  // readers open the other tabs, too
  const isHidden = properties.hidden === true && properties.role !== 'tabpanel';
  if (isHidden || properties.ariaHidden === 'true') return true;
  // Docusaurus gives headings the class of an anchor
  return !/^h[1-6]$/.test(tagName) && classesOf(element).some((name) => leftOutClasses.test(name));
}
