/**
 * Returns the dashboard's address of a page of a site, for links without a host: those of a site whose published URL is
 * not set. `from` is the path of the page that contains the link. Returns null for a link that leads nowhere.
 */
export function pageAddress(domain: string, address: string, from = ''): string | null {
  if (address === '' || address.startsWith('#') || address.startsWith('//') || /^[a-z][a-z0-9+.-]*:/i.test(address)) {
    return null;
  }
  const url = URL.parse(address, new URL(`/${from}`, 'http://site'));
  const pathname = url === null ? null : decode(url.pathname);
  if (url === null || pathname === null) return null;
  const path = pathname.replace(/^\/+|(?<!\/)\/+$/g, '').replace(/\.mdx?$/, '') || 'index';
  return `/playground/page?${new URLSearchParams({ site: domain, path }).toString()}${url.hash}`;
}

/** Decodes percent-encoding. Returns null when it is malformed. */
function decode(path: string): string | null {
  try {
    return decodeURIComponent(path);
  } catch {
    return null;
  }
}
