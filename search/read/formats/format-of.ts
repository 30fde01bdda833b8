import { posix } from 'node:path';

export type SourceFormat = 'markdown' | 'mdx' | 'html' | 'asciidoc' | 'restructuredtext';

const formats: Record<string, SourceFormat> = {
  '.md': 'markdown',
  '.markdown': 'markdown',
  '.mdx': 'mdx',
  '.html': 'html',
  '.htm': 'html',
  '.adoc': 'asciidoc',
  '.asciidoc': 'asciidoc',
  '.rst': 'restructuredtext',
};

/** Returns the format of a file by its extension; null if it is not a page. */
export function formatOf(path: string): SourceFormat | null {
  return formats[posix.extname(path).toLowerCase()] ?? null;
}
