import { recognizeLayout } from './layouts/recognize.ts';
import type { Layout, SourceFiles } from './layouts/layout.ts';
import { createIncludedFiles } from './included-files.ts';
import { formatOf, type SourceFormat } from './formats/format-of.ts';
import { addressesOf, isKnown, type KnownPage } from '../query/known-pages.ts';
import { readOperations, type Operation } from './openapi.ts';
import { plainOperations } from './plain-operations.ts';
import { operationPages, type OperationFile } from './operation-pages.ts';
import { createAddressOf } from './page-addresses.ts';
import { readPage } from './read-page.ts';
import { maxSkipped, type SourcePage } from './source-page.ts';
import type { SourceFile } from './source-file.ts';

export interface ReadPages<Page> {
  pages: Page[];
  layout: Layout;
  /** Fingerprint of the addresses that differ from those of the files. */
  addresses: string;
  report: SourceReport;
}

export interface Reading<Known> {
  /** Returns the page of a file if it is known under a layout. */
  find(file: SourceFile, layout: Layout): Known | null;
  /** Fingerprint of the addresses when the known pages were read. */
  addresses?: string;
  /** Returns the layout of the files; by default it is recognized by them. */
  layoutOf?(files: SourceFiles): Layout;
  /** Reads files that pages include and that are not among those of the folder; those that do not exist are left out. */
  readIncluded?(paths: string[]): Promise<SourceFile[]>;
}

/** The pages found in the files of a site, and what could not be read. */
export interface SourceReport {
  /** The tool whose layout the files have; null for none. */
  layout: string | null;
  /** Number of pages by the format of their source. */
  formats: Partial<Record<SourceFormat | 'api', number>>;
  /**
   * Up to a limit: configurations that are read only in part, malformed API descriptions, files that are too large,
   * then files that look like a page but have none, or share the page of another file.
   */
  skipped: string[];
}

/**
 * Converts the files of a folder to pages, as the tool publishes them whose layout the files have. Malformed files
 * never throw. Pages outside the navigation are included; a page is hidden if it says so, or if its part of the
 * navigation is hidden.
 */
export async function readPages(files: Iterable<SourceFile>): Promise<SourcePage[]> {
  return (await collectPages<never>(files, { find: () => null })).pages;
}

/**
 * Reads pages as readPages does, except those that `find` knows by their file and the layout. Throws UnreadError when the
 * navigation or another included file needs files that were not read.
 */
export async function collectPages<Known extends KnownPage>(
  files: Iterable<SourceFile>,
  { find, addresses = '', layoutOf = recognizeLayout, readIncluded = () => Promise.resolve([]) }: Reading<Known>,
): Promise<ReadPages<SourcePage | Known>> {
  const all = [...files].filter(({ path }) => isWanted(path));
  const own = new Map(all.flatMap((file) => (file.isTooLarge ? [] : [[file.path, file]])));
  const layout = layoutOf(own);
  const byPath = new Map([...own, ...(layout.added ?? []).map((file) => [file.path, file] as const)]);
  const sorted = [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  const apis: OperationFile[] = [];
  const malformed: string[] = [];
  for (const { path } of sorted.filter(({ path }) => /\.(?:json|ya?ml)$/i.test(path))) {
    const operations = readOperations(path, (name) => byPath.get(name)?.read());
    if (operations === 'malformed') malformed.push(path);
    else if (operations !== null) apis.push({ path, operations: await plainOperations(operations) });
  }
  const pages = new Map<string, SourcePage | Known>();
  const documented = new Set<Operation>();
  const report: SourceReport = {
    layout: layout.name,
    formats: {},
    skipped: [...(layout.unread ?? []), ...malformed],
  };
  for (const { path, isTooLarge } of all) if (isTooLarge) report.skipped.push(`${path} (larger than 10 MB)`);
  const firstFiles = new Map<string, string>();
  const included = createIncludedFiles(byPath, readIncluded);
  const pageFiles = pageFilesOf(sorted, layout);
  const addressOf = createAddressOf(byPath, { layout, knownPath: (file) => find(file, layout)?.path ?? null });
  const read = await included.complete(pageFiles, async ({ file }, findIncluded) => {
    const surroundings = { files: byPath, layout, addressOf, findIncluded, apis, documented };
    return find(file, layout) ?? (await readPageSafely(file, surroundings));
  });
  const moved = addressesOf(
    pageFiles.flatMap(({ file: { path } }, at) => {
      const page = read[at] ?? null;
      return page === null || page.path === layout.locate({ path, values: {} })?.path
        ? []
        : [[path, page.path] as const];
    }),
  );
  // links of known pages may lead to addresses that pages had before
  if (moved !== addresses && read.some((page) => page !== null && isKnown(page)))
    return collectPages<never>(all, { find: () => null, layoutOf: () => layout, readIncluded });
  for (const [at, { file, format }] of pageFiles.entries()) {
    const page = read[at] ?? null;
    if (page === null) {
      report.skipped.push(file.path);
      continue;
    }
    const first = firstFiles.get(page.path);
    if (first !== undefined) {
      // HTML may be generated from the others
      if (format !== 'html') report.skipped.push(`${file.path} (same page as ${first})`);
      continue;
    }
    firstFiles.set(page.path, file.path);
    pages.set(page.path, page);
    report.formats[format] = (report.formats[format] ?? 0) + 1;
  }
  for (const page of apis.flatMap((api) => operationPages(api, documented, layout.navigation))) {
    if (pages.has(page.path)) continue;
    pages.set(page.path, page);
    report.formats.api = (report.formats.api ?? 0) + 1;
  }
  report.skipped.splice(maxSkipped);
  return { pages: [...pages.values()], layout, addresses: moved, report };
}

/** Returns the files that the layout publishes; HTML last, because it may be generated from the others. */
function pageFilesOf(files: SourceFile[], layout: Layout): { file: SourceFile; format: SourceFormat }[] {
  const found = files.flatMap((file) => {
    const format = formatOf(file.path);
    return format === null || layout.locate({ path: file.path, values: {} }) === null ? [] : [{ file, format }];
  });
  return [...found.filter(({ format }) => format !== 'html'), ...found.filter(({ format }) => format === 'html')];
}

/** Returns null for a page whose markup is nested too deeply for its parser. */
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
  return !/(?:^|\/)(?:\.(?!gitbook(?:\.yaml$|\/(?:includes\/|vars\.yaml$))|vitepress\/(?:config|[\w.-]+\.[cm]?[jt]s$))[^/]|node_modules\/)|(?:^|\/)(?:package|package-lock|tsconfig)\.json$/.test(
    path,
  );
}
