import { posix } from 'node:path';
import type { AddressOf } from '../page-addresses.ts';

const mostLinks = 5_000;
const linkTarget = /\]\(([^()\s:]{1,500})\)/g;

/** Replaces the links of a page to source files by the addresses of their pages. */
export function withPageLinks(text: string, { path, addressOf }: { path: string; addressOf: AddressOf }): string {
  let left = mostLinks;
  return text.replace(linkTarget, (whole, target: string) => {
    const [name = '', anchor] = target.split('#', 2);
    if (name === '' || name.startsWith('/') || left-- <= 0) return whole;
    const address = addressOf(posix.normalize(posix.join(posix.dirname(path), name)).replace(/\/$/, ''));
    return address === null ? whole : `](/${address}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
