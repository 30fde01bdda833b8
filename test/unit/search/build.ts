import { join } from 'node:path';
import { buildIndex } from '../../../search/build/build-index.ts';
import { openSiteIndex } from '../../../search/query/site-index.ts';
import type { SourcePage } from '../../../search/read/source-page.ts';
import type { SiteIndex } from '../../../search/query/site-index.ts';

let files = 0;

export function buildPage(
  page: Partial<Omit<SourcePage, 'metadata'>> & { metadata?: Partial<SourcePage['metadata']> },
): SourcePage {
  const path = page.path ?? 'page';
  return {
    content: '',
    restrictedTo: null,
    isHidden: false,
    order: null,
    boost: 1,
    ...page,
    path,
    metadata: { title: path, ...page.metadata },
  };
}

/** Builds and opens an index over pages, as a reader who may see all of them. */
export function indexOf(folder: string, pages: SourcePage[]): SiteIndex & Disposable {
  const file = join(folder, `index-${++files}.db`);
  buildIndex(pages, { file });
  return openWhole(file);
}

/** Opens an index as a reader who may see all pages. */
export function openWhole(file: string): SiteIndex & Disposable {
  const opened = openSiteIndex(file);
  return { ...opened.as('all'), [Symbol.dispose]: () => opened[Symbol.dispose]() };
}

export function fileOf(path: string, text: string) {
  return { path, read: () => text };
}
