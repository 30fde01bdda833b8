import type { SitePages } from '../../search/query/site-index.ts';
import type { LinkTarget } from './links/check-links.ts';
import type { SearchFilter } from '../../search/query/search-request.ts';
import { urlOf } from './retrieve.ts';
import { trimEndSlashes } from '../../lib/trim-end-slashes.ts';

/**
 * Creates the resolver for the links of an answer. It accepts pages of the site, with the anchor if the page has it,
 * and URLs that occur in a text shown to the model. It returns null for all others, so that no invented link is sent.
 */
export function createLinkResolver({
  index,
  shown,
  filter,
  baseUrl,
  ownUrls = new Map(),
}: {
  index: SitePages;
  /** Documentation texts the model has seen. The list may grow. */
  shown: string[];
  filter: SearchFilter | null;
  baseUrl: string | null;
  /** Paths of the pages with their own URLs that the model has seen. The map may grow. */
  ownUrls?: ReadonlyMap<string, string>;
}): (target: string) => LinkTarget | null {
  const base = trimEndSlashes(baseUrl ?? '');
  const known = new Map<string, LinkTarget>();
  return (target) => {
    const found = known.get(target) ?? find(target);
    if (found !== null) known.set(target, found);
    return found;
  };

  function find(target: string): LinkTarget | null {
    const own = ownUrls.get(target.split('#', 1)[0] ?? '');
    if (own !== undefined) return linkTo(own, target.split('#', 2)[1] ?? '');
    const isExternal = /^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith('//');
    if (isExternal && !(base !== '' && isBelow(target, base))) {
      return /^(?:https?|mailto):/i.test(target) && shown.some((text) => holds(text, target))
        ? { url: target, path: null }
        : null;
    }
    if (target === '' || target.startsWith('#')) return null;
    const [address = '', anchor = ''] = (isExternal ? target.slice(base.length) : target).split('#', 2);
    return linkTo(address.split('?', 1)[0] || '/', anchor);
  }

  function linkTo(path: string, anchor: string): LinkTarget | null {
    const page = index.page(path, filter);
    if (page === null) return null;
    const existing = anchor !== '' && index.hasLink(page.path, anchor) ? anchor : null;
    return { url: urlOf({ ...page, anchor: existing }, baseUrl), path: page.path };
  }
}

/** Reports whether a text contains exactly this URL, not just a longer one with the same prefix. */
function holds(text: string, address: string): boolean {
  for (let at = text.indexOf(address); at >= 0; at = text.indexOf(address, at + 1)) {
    if (/^(?:[.,;:!?]*(?:[\s<>)\]}"'`*|]|$))/.test(text.slice(at + address.length, at + address.length + 4)))
      return true;
  }
  return false;
}

function isBelow(target: string, base: string): boolean {
  return target === base || target.startsWith(`${base}/`) || target.startsWith(`${base}#`);
}
