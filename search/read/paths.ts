/**
 * Returns the path of a page: without leading or trailing slashes, extension, anchor and query; `index` for the root.
 */
export function pathOf(text: string): string {
  const path = decoded(text.replace(/[?#].*$/s, ''))
    .replaceAll('\\', '/')
    .replace(/\.(?:md|mdx|markdown|html?|adoc|asciidoc|rst)$/i, '');
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  return segments.join('/') || 'index';
}

function decoded(text: string): string {
  if (!text.includes('%')) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Returns the folder of a path, empty for the root. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}

/** Returns the name of a source's file among the files of all sources; no other path contains two slashes in a row. */
export function fileOf(prefix: string, path: string): string {
  return prefix === '' ? path : `${prefix}//${path}`;
}
