import { gunzipSync } from 'node:zlib';
import sax from 'sax';

/** Addresses of a sitemap, or of the sitemaps of an index. */
export interface Sitemap {
  pages: string[];
  sitemaps: string[];
  /** False for one that ends early, or cannot be read to its end. */
  isWhole: boolean;
}

/** The protocol's own limits are 50,000 addresses and 50 MB. */
const maxAddresses = 50_000;
export const maxSitemapBytes = 10_000_000;
const maxAddressLength = 2_048;
const maxDepth = 20;
const chunkLength = 65_536;
/** An ampersand that is no reference of XML. */
const rawAmpersand = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-f]{1,6});)/gi;

/**
 * Reads a sitemap; null for other documents. An ampersand that is not escaped stays as it is, and entities that it defines are
 * not resolved. Throws for one that expands too far.
 */
export function readSitemap(bytes: Uint8Array): Sitemap | null {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const unzipped = isGzip ? gunzipSync(bytes, { maxOutputLength: maxSitemapBytes }) : bytes;
  const text = new TextDecoder().decode(unzipped).replaceAll(rawAmpersand, '&amp;');
  const found: Sitemap = { pages: [], sitemaps: [], isWhole: false };
  const parser = sax.parser(true, { trim: true, position: false });
  const open: string[] = [];
  let address = '';
  let isSitemap = false;
  const take = (text: string) => {
    if (open.at(-1) === 'loc' && address.length < maxAddressLength) address += text;
  };
  Object.assign(parser, {
    onopentag({ name }: { name: string }) {
      open.push(name.replace(/^.*:/, ''));
      if (open.length === 1) isSitemap = /^(?:urlset|sitemapindex)$/.test(open[0] ?? '');
      address = '';
    },
    ontext: take,
    oncdata: (text: string) => take(text.replaceAll('&amp;', '&')),
    onclosetag() {
      const list = open.at(-2) === 'sitemap' ? found.sitemaps : found.pages;
      // image and video sitemaps have their own addresses below a page
      if (open.pop() === 'loc' && open.length === 2 && list.length < maxAddresses) list.push(address.trim());
      if (open.length === 0) found.isWhole = parser.error === null;
    },
  });
  for (let at = 0; at < text.length && parser.error === null && open.length < maxDepth; at += chunkLength)
    parser.write(text.slice(at, at + chunkLength));
  return isSitemap ? found : null;
}
