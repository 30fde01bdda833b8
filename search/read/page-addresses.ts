import { posix } from 'node:path';
import { formatOf } from './formats/format-of.ts';
import { readFrontMatter } from './front-matter.ts';
import type { Layout, SourceFiles } from './layouts/layout.ts';
import type { SourceFile } from './source-file.ts';

/** Returns the path of the page of a file; null when the link does not lead to a page's file. */
export type AddressOf = (file: string) => string | null;

const usualEnding = '.md';
/** How links may name a page's file: with its extension, without it, or by its folder if it is the folder's page. */
const endings = ['', usualEnding, '.mdx', '.rst', '.adoc', '/index.md', '/index.mdx', '/README.md'];

/**
 * Creates a function that resolves links between files to the addresses of pages. Front matter may set a page's
 * address, so it is read for files whose page `knownPath` does not know. Errors: UnreadError.
 */
export function createAddressOf(
  files: SourceFiles,
  { layout, knownPath }: { layout: Layout; knownPath(file: SourceFile): string | null },
): AddressOf {
  const addresses = new Map<string, string | null>();

  function read(name: string): string | null {
    // the link leads out of the source
    if (name.startsWith('../')) return null;
    const file = endings.map((ending) => files.get(name + ending)).find((one) => one !== undefined);
    if (file === undefined || formatOf(file.path) === null) {
      // as if the file existed, so that the address is the same when it is added
      const path = posix.extname(name) === '' ? name + usualEnding : name;
      return formatOf(path) === null ? null : (layout.locate({ path, values: {} })?.path ?? null);
    }
    const known = knownPath(file);
    if (known !== null) return known;
    const isMarkdown = /^(?:markdown|mdx)$/.test(formatOf(file.path) ?? '');
    const values = isMarkdown && layout.isParsed !== true ? readFrontMatter(file.read()).values : {};
    return layout.locate({ path: file.path, values })?.path ?? null;
  }

  return (name) => {
    const found = addresses.get(name);
    if (found !== undefined) return found;
    const address = read(name);
    addresses.set(name, address);
    return address;
  };
}
