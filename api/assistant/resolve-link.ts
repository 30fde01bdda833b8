import type { SearchHit, SiteIndex } from '../../search/site-index.ts';
import type { LinkTarget } from './check-links.ts';
import { urlOf } from './retrieve.ts';

/**
 * Decides about the links of an answer: a page of the site (its anchor too, where the page has it), or an address that one
 * of the passages holds. Everything else is unknown, so that no invented link leaves.
 */
export function createLinkResolver({
  index,
  hits,
  baseUrl,
}: {
  index: SiteIndex;
  hits: SearchHit[];
  baseUrl: string | null;
}): (target: string) => LinkTarget | null {
  const base = (baseUrl ?? '').replace(/\/+$/, '');
  return (target) => {
    const isExternal = /^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//');
    if (isExternal && !(base !== '' && isBelow(target, base))) {
      return /^(?:https?|mailto):/i.test(target) && hits.some(({ content }) => content.includes(target))
        ? { url: target, path: null }
        : null;
    }
    if (target === '' || target.startsWith('#')) return null;
    const [address = '', anchor = ''] = (isExternal ? target.slice(base.length) : target).split('#', 2);
    const page = index.page(address.split('?', 1)[0] || '/');
    if (page === null) return null;
    const known = anchor !== '' && index.hasLink(page.path, anchor) ? anchor : null;
    return { url: urlOf({ path: page.path, anchor: known }, baseUrl), path: page.path };
  };
}

function isBelow(target: string, base: string): boolean {
  return target === base || target.startsWith(`${base}/`) || target.startsWith(`${base}#`);
}
