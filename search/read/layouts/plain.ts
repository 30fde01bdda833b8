import { posix } from 'node:path';
import { textOf } from '../front-matter.ts';
import { readNavigation, type Navigation } from '../navigation.ts';
import { pathOf } from '../paths.ts';
import type { Layout, LayoutFile, PageLocation, SourceFiles } from './layout.ts';

/** Returns the layout of a folder of pages that no tool arranges, or whose pages are listed in one Markdown file. */
export function plainLayout(files: SourceFiles): Layout {
  const navigation = readNavigation(files);
  return { name: null, navigation, locate: (file) => locationBeside(file, navigation) };
}

/** Places a page at its file's path or at its slug. Files that other pages include are not published. */
export function locationBeside({ path, values }: LayoutFile, { entries }: Navigation): PageLocation | null {
  const isPartial =
    !entries.has(pathOf(path)) &&
    (/(?:^|\/)(?:_(?!index\.)[^/]*|SUMMARY\.md|\.gitbook\/.*)$/s.test(path) ||
      (entries.size > 0 && /(?:^|\/)_?snippets\//.test(path)));
  return isPartial ? null : { path: pathWithSlug(path, textOf(values.slug)) };
}

/** Returns the path of a page whose front matter names one, relative to its folder or to the site. */
function pathWithSlug(source: string, slug: string | undefined): string {
  const file = source.replace(/(^|\/)_index\./, '$1index.');
  if (slug === undefined || /[\s?#]/.test(slug)) return pathOf(file);
  const joined = slug.startsWith('/') ? slug : posix.join(posix.dirname(file), slug);
  return joined.startsWith('..') ? pathOf(file) : pathOf(joined);
}
