import { posix } from 'node:path';
import { type FrontMatter, groupsOf, readFrontMatter } from '../front-matter.ts';
import type { Layout, SourceFiles, Target } from '../layouts/layout.ts';
import { mdxToMarkdown, plainMarkdown } from '../mdx.ts';
import type { AddressOf } from '../page-addresses.ts';
import type { SourceFile } from '../source-file.ts';
import { usesSnippets, withSnippets } from '../../query/snippets.ts';
import { asciidocIncludes, withNamedTargets } from './asciidoc-includes.ts';
import { withIncludes, type FindIncluded, type IncludeSyntax } from './includes.ts';
import { formatOf, type SourceFormat } from './format-of.ts';
import { rawImports } from './raw-imports.ts';
import { rstIncludes } from './rst-includes.ts';
import type { Referred, References } from './rst-labels.ts';

export interface ReadText extends FrontMatter {
  /** The page includes no other file. */
  isAlone: boolean;
}

export interface TextSurroundings {
  files: SourceFiles;
  layout: Layout;
  addressOf: AddressOf;
  findIncluded: FindIncluded;
}

/**
 * Reads the text of a page as Markdown, with its front matter. Returns null for a file without a page. Errors:
 * RangeError for markup that is nested too deeply.
 */
export async function readText(
  file: SourceFile,
  { files, layout, addressOf, findIncluded }: TextSurroundings,
): Promise<ReadText | null> {
  if (layout.isParsed === true) {
    const page: FrontMatter = JSON.parse(file.read());
    return { ...page, isAlone: true };
  }
  const format = formatOf(file.path);
  if (format === 'html') {
    const { readHtml } = await import('./html.ts');
    const page = readHtml(file.read());
    return page === null ? null : { ...page, isAlone: true };
  }
  const { values, body: source } = readFrontMatter(file.read());
  const isMdx = format === 'mdx' || (format === 'markdown' && layout.isMdx === true);
  const completed = layout.complete?.(source, file.path) ?? source;
  const whole = isMdx ? withSnippets(completed, files, file.path) : completed;
  const syntax = format === null ? undefined : (layout.includes?.[format] ?? includesOf[isMdx ? 'mdx' : format]);
  const named = format === 'asciidoc' ? withNamedTargets(whole, layout.attributesOf?.(file.path)) : whole;
  const included = syntax === undefined ? whole : withIncludes(named, { path: file.path, find: findIncluded, syntax });
  const { references, isUsed } = referencesOf(layout, file.path);
  const prepared = layout.prepare?.(included, { path: file.path, values }, references) ?? included;
  const page = await converted(prepared, { format, isMdx, path: file.path, layout, references });
  const isShared = included !== whole || (isMdx && usesSnippets(source)) || isUsed();
  const isAlone = !isShared && layout.isNavigation?.({ path: file.path, values }, source) !== true;
  const addressFrom: AddressOf = (name) => addressOf(layout.linked?.(name, file.path) ?? name);
  const body = layout.name === null ? page.body : withPageLinks(page.body, { path: file.path, addressOf: addressFrom });
  // the page is restricted if either of the two restricts it
  const groups = [values, page.values].find((stated) => groupsOf(stated) !== null)?.groups;
  return { values: { ...page.values, ...values, groups }, body, isAlone };
}

async function converted(
  text: string,
  {
    format,
    isMdx,
    path,
    layout,
    references,
  }: { format: SourceFormat | null; isMdx: boolean; path: string; layout: Layout; references: References },
): Promise<FrontMatter> {
  if (format === 'asciidoc') {
    const { readAsciiDoc } = await import('./asciidoc.ts');
    return readAsciiDoc(text, layout.attributesOf?.(path));
  }
  if (format === 'restructuredtext') {
    const { readRst } = await import('./rst.ts');
    return readRst(text, { substitutions: layout.substitutions, references, translate: layout.translate?.(path) });
  }
  return { values: {}, body: isMdx ? mdxToMarkdown(text) : plainMarkdown(text) };
}

/** Returns the targets on other pages that a page's references name, and whether other pages were read for them. */
function referencesOf(layout: Layout, path: string): { references: References; isUsed: () => boolean } {
  let isUsed = false;
  const find = (target: Target | null | undefined): Referred | null => {
    isUsed ||= layout.references !== undefined;
    if (target == null) return null;
    const file = layout.linked?.(target.file, path) ?? target.file;
    const link = posix.relative(posix.dirname(path), file);
    const title = target.title === null ? null : (layout.translate?.(file)?.(target.title) ?? target.title);
    return { title, link: target.anchor === undefined ? link : `${link}#${target.anchor}` };
  };
  const references: References = {
    section: (label) => find(layout.references?.section(label)),
    document: (name) => find(layout.references?.document(name, path)),
  };
  return { references, isUsed: () => isUsed };
}

const includesOf: Partial<Record<SourceFormat, IncludeSyntax>> = {
  mdx: rawImports,
  asciidoc: asciidocIncludes((target, from) => [posix.normalize(posix.join(posix.dirname(from), target))]),
  restructuredtext: rstIncludes(),
};

const maxLinks = 5_000;
const linkTarget = /\]\(([^()\s:]{1,500})\)/g;

/** Replaces the links of a page to source files by the addresses of their pages. */
function withPageLinks(text: string, { path, addressOf }: { path: string; addressOf: AddressOf }): string {
  let left = maxLinks;
  return text.replace(linkTarget, (whole, target: string) => {
    const [name = '', anchor] = target.split('#', 2);
    if (name === '' || name.startsWith('/') || left-- <= 0) return whole;
    const address = addressOf(posix.normalize(posix.join(posix.dirname(path), name)).replace(/\/$/, ''));
    return address === null ? whole : `](/${address}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
