/**
 * Where the dashboard shows a page of a site, for links of the site that name no host: those of a site whose published address
 * nobody has said. `from` is the path of the page that holds the link; null for what leads nowhere.
 */
export function pageAddress(domain: string, address: string, from = ''): string | null {
  if (address === '' || address.startsWith('#') || address.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(address)) {
    return null;
  }
  const url = URL.parse(address, new URL(`/${from}`, 'http://site'));
  const pathname = url === null ? null : decode(url.pathname);
  if (url === null || pathname === null) return null;
  const path = pathname.replace(/^\/+|\/+$/g, '').replace(/\.mdx?$/, '') || 'index';
  return `/playground/page?${new URLSearchParams({ site: domain, path }).toString()}${url.hash}`;
}

/** Null where percent signs stand for no text. */
function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
