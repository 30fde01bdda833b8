/** The path of a page: no slash at its ends, no extension, no anchor or query; `index` for the top. */
export function pathOf(text: string): string {
  const path = decoded(text.replace(/[?#].*$/s, ''))
    .replaceAll('\\', '/')
    .replace(/\.(?:md|mdx|markdown|html)$/i, '');
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

/** The folder of a path, empty at the top. */
export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '' : path.slice(0, slash);
}
