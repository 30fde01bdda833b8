import { posix } from 'node:path';
import { listOf, readFrontMatter, textOf } from './front-matter.ts';
import { fingerprintOf, type KnownPage, type KnownPages, sourceKey, type WantedPage } from '../query/known-pages.ts';
import { headingText, linesOf } from './markdown-lines.ts';
import { mdxToMarkdown, stripComments } from './mdx.ts';
import { readNavigation } from './navigation.ts';
import type { Navigation } from './navigation.ts';
import { readOperations } from './openapi.ts';
import type { Operation } from './openapi.ts';
import { pathOf } from './paths.ts';
import { applyNavigation } from './apply-navigation.ts';
import type { PageMetadata, SourcePage } from './source-page.ts';
import { usesSnippets, withSnippets } from '../query/snippets.ts';
import type { SourceFile } from './source-file.ts';

export interface ReadPages<Page> {
  pages: Page[];
  /** Fingerprint of the navigation. */
  navigation: string;
}

interface OperationFile {
  path: string;
  operations: Operation[];
}

/**
 * Converts the files of a folder to pages: Markdown and MDX with front matter, OpenAPI files, navigation (`docs.json`,
 * `mint.json`). Malformed files never throw. Pages outside the navigation are included; a page is hidden if it says so,
 * or if its part of the navigation is hidden.
 */
export function readPages(files: Iterable<SourceFile>): SourcePage[] {
  return collectPages<never>(files, () => null).pages;
}

/**
 * The same as readPages, without reading files whose pages are known. Throws UnreadError when the navigation or another
 * included file needs files that were not read.
 */
export function readChangedPages(files: Iterable<SourceFile>, known: KnownPages | null): ReadPages<WantedPage> {
  return collectPages<KnownPage>(files, ({ path, name }, navigation) => {
    if (known === null || name === undefined || navigation !== known.navigation) return null;
    return known.bySource.get(sourceKey({ file: path, name })) ?? null;
  });
}

function collectPages<Known extends KnownPage>(
  files: Iterable<SourceFile>,
  find: (file: SourceFile, navigation: string) => Known | null,
): ReadPages<SourcePage | Known> {
  const byPath = new Map([...files].filter(({ path }) => isWanted(path)).map((file) => [file.path, file]));
  const navigation = readNavigation(byPath);
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const apis: OperationFile[] = [];
  for (const file of sorted.filter(({ path }) => /\.(?:json|ya?ml)$/i.test(path))) {
    const operations = readOperations(file.read());
    if (operations !== null) apis.push({ path: file.path, operations });
  }
  const fingerprint = fingerprintOf(navigation);
  const pages = new Map<string, SourcePage | Known>();
  const documented = new Set<Operation>();
  for (const file of sorted) {
    if (!/\.(?:md|mdx|markdown)$/i.test(file.path) || isPartial(file.path, navigation)) continue;
    const page = find(file, fingerprint) ?? readPage(file, { files: byPath, navigation, apis, documented });
    if (!pages.has(page.path)) pages.set(page.path, page);
  }
  for (const page of apis.flatMap((api) => operationPages(api, documented, navigation)))
    if (!pages.has(page.path)) pages.set(page.path, page);
  return { pages: [...pages.values()], navigation: fingerprint };
}

function isWanted(path: string): boolean {
  return (
    /\.(?:md|mdx|markdown|json|ya?ml)$/i.test(path) &&
    !/(?:^|\/)(?:\.[^/]|node_modules\/)|(?:^|\/)(?:package|package-lock|tsconfig)\.json$/.test(path)
  );
}

/** Files that other pages include are not pages themselves. */
function isPartial(path: string, navigation: Navigation): boolean {
  if (navigation.entries.has(pathOf(path))) return false;
  return (
    /(?:^|\/)(?:_[^/]*|SUMMARY\.md)$/.test(path) || (navigation.entries.size > 0 && /(?:^|\/)_?snippets\//.test(path))
  );
}

interface Surroundings {
  files: ReadonlyMap<string, SourceFile>;
  navigation: Navigation;
  apis: OperationFile[];
  documented: Set<Operation>;
}

function readPage(file: SourceFile, { files, navigation, apis, documented }: Surroundings): SourcePage {
  const { values, body } = readFrontMatter(file.read());
  const isMdx = file.path.toLowerCase().endsWith('.mdx');
  let content = isMdx ? mdxToMarkdown(withSnippets(body, files)) : stripComments(body);
  const isOld = saysDeprecated(values, content);
  const operation = operationNamed(textOf(values.openapi), apis);
  if (operation !== null) {
    documented.add(operation);
    content = [operation.lead, content.trim(), operation.details].filter(Boolean).join('\n\n');
  }
  const path = pathWithSlug(file.path, textOf(values.slug));
  const title =
    textOf(values.title) ??
    operation?.title ??
    firstHeading(content) ??
    textOf(values.sidebarTitle) ??
    titleOfPath(path);
  const metadata: PageMetadata = { title };
  const description = textOf(values.description) ?? operation?.description;
  if (description !== undefined) metadata.description = description;
  const tags = listOf(values.tags) ?? operation?.tags;
  if (tags !== undefined) metadata.tags = tags;
  const keywords = listOf(values.keywords);
  if (keywords !== undefined) metadata.keywords = keywords;
  const isHidden =
    values.hidden === true || values.draft === true || values.searchable === false || values.noindex === true;
  const boost = typeof values.boost === 'number' ? values.boost : null;
  const isDeprecated = isOld || operation?.isDeprecated === true;
  const page = { path, content, metadata, isHidden, isDeprecated, boost, values };
  const placed = applyNavigation(page, { navigation, key: pathOf(file.path), isOperation: false });
  const isAlone = values.openapi === undefined && !(isMdx && usesSnippets(body));
  return isAlone && file.name !== undefined ? { ...placed, source: { file: file.path, name: file.name } } : placed;
}

/** A page may state in its front matter or in its first words that it has been superseded. */
function saysDeprecated(values: Record<string, unknown>, content: string): boolean {
  if (values.deprecated === true || /^deprecated$/i.test(textOf(values.tag) ?? '')) return true;
  return /^\W*(?:deprecated\b|this \w+ (?:is|has been) deprecated\b)/i.test(content.slice(0, 200));
}

function operationPages(
  { path, operations }: OperationFile,
  documented: ReadonlySet<Operation>,
  navigation: Navigation,
): SourcePage[] {
  const folder = path.replace(/\.(?:json|ya?ml)$/i, '');
  const taken = new Set<string>();
  return operations
    .filter((operation) => !documented.has(operation))
    .map((operation) => {
      let name = operation.slug;
      for (let repeat = 1; taken.has(name); repeat++) name = `${operation.slug}-${repeat}`;
      taken.add(name);
      const { title, description, tags, isHidden, isDeprecated, lead, details } = operation;
      const metadata = { title, ...(description && { description }), ...(tags && { tags }) };
      const content = [lead, details].filter(Boolean).join('\n\n');
      const page = { path: `${folder}/${name}`, content, metadata, isHidden, isDeprecated, boost: null, values: {} };
      return applyNavigation(page, { navigation, key: `${operation.method} ${operation.route}`, isOperation: true });
    });
}

/** Front matter names an operation as `METHOD /path`, preceded by the file if there are several. */
function operationNamed(text: string | undefined, apis: OperationFile[]): Operation | null {
  const match = text === undefined ? null : /(?:^|\s)([A-Za-z]{3,7})\s+(\/\S*)$/.exec(text);
  if (match === null || text === undefined) return null;
  const file = text.slice(0, match.index).replace(/^\/+/, '').trim();
  const candidates = apis.filter(
    (api) => file === '' || api.path === file || api.path.endsWith(`/${posix.basename(file)}`),
  );
  const operations = (candidates.length > 0 ? candidates : apis).flatMap((api) => api.operations);
  return operations.find(({ method, route }) => method === match[1]?.toUpperCase() && route === match[2]) ?? null;
}

function pathWithSlug(file: string, slug: string | undefined): string {
  if (slug === undefined || /[\s?#]/.test(slug)) return pathOf(file);
  const joined = slug.startsWith('/') ? slug : posix.join(posix.dirname(file), slug);
  return joined.startsWith('..') ? pathOf(file) : pathOf(joined);
}

function firstHeading(content: string): string | undefined {
  for (const line of linesOf(content)) {
    const text = line.level > 0 ? headingText(content.slice(line.start, Math.min(line.end, line.start + 400))) : '';
    if (text !== '') return text;
  }
  return undefined;
}

function titleOfPath(path: string): string {
  const name = path.split('/').at(-1) ?? path;
  const words = name.replace(/[-_]+/g, ' ').trim() || path;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
