import { posix } from 'node:path';
import type { Layout } from '../layouts/layout.ts';
import { formatOf } from './format-of.ts';

const mostLinks = 5_000;
const linkTarget = /\]\(([^()\s:]{1,500})\)/g;

/** Replaces the links of a page to source files by the addresses of their pages. */
export function withPageLinks(text: string, { path, layout }: { path: string; layout: Layout }): string {
  let left = mostLinks;
  return text.replace(linkTarget, (whole, target: string) => {
    const [name = '', anchor] = target.split('#', 2);
    if (formatOf(name) === null || name.startsWith('/') || left-- <= 0) return whole;
    const file = posix.normalize(posix.join(posix.dirname(path), name));
    const place = layout.place({ path: file, values: {} });
    return place === null ? whole : `](/${place.path}${anchor === undefined ? '' : `#${anchor}`})`;
  });
}
