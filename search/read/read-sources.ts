import {
  fingerprintOf,
  isKnown,
  sourceKey,
  type KnownPage,
  type KnownPages,
  type WantedPage,
} from '../query/known-pages.ts';
import { maxBoost, minBoost } from './apply-navigation.ts';
import { ordersPerSource } from './layouts/config-file.ts';
import type { Layout } from './layouts/layout.ts';
import { changeProse } from './markdown-lines.ts';
import { fileOf } from './paths.ts';
import { collectPages, type SourceReport } from './read-pages.ts';
import type { SourceFile } from './source-file.ts';
import type { SourcePage } from './source-page.ts';

/** One of the sources of a site: its files, or the pages of the last index if the files could not be read. */
export interface SourcePart {
  /** Path below which its pages appear; empty for the top. */
  prefix: string;
  /** Factor of the boost of its pages. */
  weight: number;
  files: Iterable<SourceFile>;
  /** By default, it is recognized by the files. */
  layout?: Layout;
  kept?: readonly WantedPage[];
  /** Reads files that its pages include and that are not among its files. */
  readIncluded?(paths: string[]): Promise<SourceFile[]>;
}

/** What was found in one source. */
export interface FoundSource {
  /** Number of its pages. */
  pages: number;
  /** The first of its files that were not read. */
  skipped: string[];
}

export interface ReadSources {
  pages: WantedPage[];
  /** Fingerprints of the navigations of all sources. */
  navigation: string;
  /** End of the published addresses of all pages: that of the first source. */
  suffix: string;
  /** The report on the first source, with the formats of all. */
  report: SourceReport;
  found: FoundSource[];
}

/**
 * Reads the pages of a site's sources, each as `readPages` does. A page belongs to the source with the longest prefix of
 * its path; pages of other sources at this path are left out. Throws UnreadError when a navigation or another included
 * file needs files that were not read.
 */
export async function readSources(parts: readonly SourcePart[], known: KnownPages | null): Promise<ReadSources> {
  const fingerprints = known?.navigation.split(' ') ?? [];
  const ownerOf = createOwnerOf(parts);
  const pages: WantedPage[] = [];
  const navigation: string[] = [];
  const found: FoundSource[] = [];
  let suffix = '';
  let report: SourceReport | null = null;
  for (const [at, part] of parts.entries()) {
    const add = (read: WantedPage[], skipped: string[]) => {
      const own = read.filter(({ path }) => ownerOf(path) === part.prefix);
      pages.push(...own.map((page) => inOrder(page, at)));
      found.push({ pages: own.filter((page) => isKnown(page) || !page.isHidden).length, skipped });
    };
    if (part.kept !== undefined) {
      add([...part.kept], []);
      navigation.push(fingerprints[at] ?? '-');
      continue;
    }
    const mark = remembered((layout) => fingerprintOf(layout) + (part.weight === 1 ? '' : `*${part.weight}`));
    const [fingerprint, addresses = ''] = fingerprints[at]?.split('~') ?? [];
    const { layout: given, readIncluded } = part;
    const read = await collectPages<KnownPage>(part.files, {
      ...(given && { layoutOf: () => given }),
      ...(readIncluded && { readIncluded }),
      addresses,
      find({ path, name }, layout) {
        if (known === null || name === undefined || mark(layout) !== fingerprint) return null;
        const page = known.bySource.get(sourceKey({ file: fileOf(part.prefix, path), name }));
        return page === undefined ? null : { ...page, path: withoutPrefix(page.path, part.prefix) };
      },
    });
    add(
      read.pages.map((page) => placed(page, part)),
      read.report.skipped,
    );
    navigation.push(`${mark(read.layout)}~${read.addresses}`);
    if (report === null) [report, suffix] = [read.report, read.layout.suffix ?? ''];
    else addFormats(report, read.report);
  }
  report ??= { layout: null, formats: {}, skipped: [] };
  return { pages, navigation: navigation.join(' '), suffix, report, found };
}

/** Returns a function that finds the prefix of the source to which a path belongs. */
export function createOwnerOf(parts: readonly Pick<SourcePart, 'prefix'>[]): (path: string) => string {
  const prefixes = parts.map(({ prefix }) => prefix).toSorted((a, b) => b.length - a.length);
  return (path) => prefixes.find((prefix) => prefix === '' || path.startsWith(`${prefix}/`)) ?? '';
}

/** Remembers the fingerprint of a layout, which is compared for every page. */
function remembered(mark: (layout: Layout) => string): (layout: Layout) => string {
  const marks = new Map<Layout, string>();
  return (layout) => {
    const found = marks.get(layout) ?? mark(layout);
    marks.set(layout, found);
    return found;
  };
}

function withoutPrefix(path: string, prefix: string): string {
  return prefix === '' ? path : path.slice(prefix.length + 1);
}

function placed(page: WantedPage, { prefix, weight }: SourcePart): WantedPage {
  const path = prefix === '' ? page.path : `${prefix}/${page.path}`;
  return isKnown(page) ? { ...page, path } : placedPage({ ...page, path }, { prefix, weight });
}

function placedPage(page: SourcePage, { prefix, weight }: Pick<SourcePart, 'prefix' | 'weight'>): SourcePage {
  const { source } = page;
  return {
    ...page,
    content: prefix === '' ? page.content : withPrefixedLinks(page.content, prefix),
    boost: Math.min(maxBoost, Math.max(minBoost, page.boost * weight)),
    ...(source && { source: { ...source, file: fileOf(prefix, source.file) } }),
  };
}

/** Links from the top of a source lead below its prefix. */
function withPrefixedLinks(content: string, prefix: string): string {
  if (!content.includes('](/')) return content;
  return changeProse(content, (prose) =>
    prose.replaceAll(/\]\(\/(?!\/)([^()\s]{0,500})/g, (whole, target: string) =>
      target.startsWith(`${prefix}/`) ? whole : `](/${prefix}/${target}`,
    ),
  );
}

/** Pages of a later source come later. A known page has the position that its source gave it among the sources of an earlier index. */
function inOrder<Page extends WantedPage>(page: Page, at: number): Page {
  const { order } = page;
  return order === null ? page : { ...page, order: (order % ordersPerSource) + at * ordersPerSource };
}

function addFormats(report: SourceReport, { formats }: SourceReport): void {
  for (const [format, pages = 0] of Object.entries(formats))
    Object.assign(report.formats, { [format]: (Reflect.get(report.formats, format) ?? 0) + pages });
}
