import { recognizeLayout } from './layouts/recognize.ts';
import type { Layout } from './layouts/layout.ts';
import { formatOf, type SourceFormat } from './formats/format-of.ts';
import { fingerprintOf, type KnownPage, type KnownPages, sourceKey, type WantedPage } from '../query/known-pages.ts';
import { readOperations, type Operation } from './openapi.ts';
import { operationPages, type OperationFile } from './operation-pages.ts';
import { readPage } from './read-page.ts';
import { mostSkipped, type SourcePage } from './source-page.ts';
import type { SourceFile } from './source-file.ts';

export interface ReadPages<Page> {
  pages: Page[];
  /** Fingerprint of the navigation. */
  navigation: string;
  /** End of the published addresses of all pages. */
  suffix: string;
  report: SourceReport;
}

/** The pages found in the files of a site, and what could not be read. */
export interface SourceReport {
  /** The tool whose layout the files have; null for none. */
  layout: string | null;
  /** Number of pages by the format of their source. */
  formats: Partial<Record<SourceFormat | 'api', number>>;
  /** Files without a page that look like one; the first of them. */
  skipped: string[];
}

/**
 * Converts the files of a folder to pages, as the tool publishes them whose layout the files have. Malformed files
 * never throw. Pages outside the navigation are included; a page is hidden if it says so, or if its part of the
 * navigation is hidden.
 */
export async function readPages(files: Iterable<SourceFile>): Promise<SourcePage[]> {
  return (await collectPages<never>(files, () => null)).pages;
}

/**
 * The same as readPages, without reading files whose pages are known. Throws UnreadError when the navigation or another
 * included file needs files that were not read.
 */
export function readChangedPages(
  files: Iterable<SourceFile>,
  known: KnownPages | null,
): Promise<ReadPages<WantedPage>> {
  return collectPages<KnownPage>(files, ({ path, name }, navigation) => {
    if (known === null || name === undefined || navigation !== known.navigation) return null;
    return known.bySource.get(sourceKey({ file: path, name })) ?? null;
  });
}

async function collectPages<Known extends KnownPage>(
  files: Iterable<SourceFile>,
  find: (file: SourceFile, navigation: string) => Known | null,
): Promise<ReadPages<SourcePage | Known>> {
  const byPath = new Map([...files].filter(({ path }) => isWanted(path)).map((file) => [file.path, file]));
  const layout = recognizeLayout(byPath);
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const apis: OperationFile[] = [];
  for (const file of sorted.filter(({ path }) => /\.(?:json|ya?ml)$/i.test(path))) {
    const operations = readOperations(file.read());
    if (operations !== null) apis.push({ path: file.path, operations });
  }
  const fingerprint = fingerprintOf(layout);
  const pages = new Map<string, SourcePage | Known>();
  const documented = new Set<Operation>();
  const report: SourceReport = { layout: layout.name, formats: {}, skipped: [] };
  const surroundings = { files: byPath, layout, apis, documented };
  for (const { file, format } of pageFilesOf(sorted, layout)) {
    const page = find(file, fingerprint) ?? (await readPageSafely(file, surroundings));
    if (page === null && report.skipped.length < mostSkipped) report.skipped.push(file.path);
    if (page === null || pages.has(page.path)) continue;
    pages.set(page.path, page);
    report.formats[format] = (report.formats[format] ?? 0) + 1;
  }
  for (const page of apis.flatMap((api) => operationPages(api, documented, layout.navigation))) {
    if (pages.has(page.path)) continue;
    pages.set(page.path, page);
    report.formats.api = (report.formats.api ?? 0) + 1;
  }
  return { pages: [...pages.values()], navigation: fingerprint, suffix: layout.suffix ?? '', report };
}

/** Returns the files that the layout publishes; HTML last, because it may be generated from the others. */
function pageFilesOf(files: SourceFile[], layout: Layout): { file: SourceFile; format: SourceFormat }[] {
  const found = files.flatMap((file) => {
    const format = formatOf(file.path);
    return format === null || layout.place({ path: file.path, values: {} }) === null ? [] : [{ file, format }];
  });
  return [...found.filter(({ format }) => format !== 'html'), ...found.filter(({ format }) => format === 'html')];
}

/** A page whose markup is nested deeper than its parser can follow is left out. */
async function readPageSafely(
  file: SourceFile,
  surroundings: Parameters<typeof readPage>[1],
): Promise<SourcePage | null> {
  try {
    return await readPage(file, surroundings);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Hidden folders are left out, except those in which tools keep their configuration. */
function isWanted(path: string): boolean {
  return !/(?:^|\/)(?:\.(?!gitbook(?:\.yaml$|\/includes\/)|vitepress\/config)[^/]|node_modules\/)|(?:^|\/)(?:package|package-lock|tsconfig)\.json$/.test(
    path,
  );
}
