import { hrefOf } from '../widget/addresses.ts';
import type { LinkTarget } from '../widget/answer/page-link.tsx';
import { pageAddress } from './page-address.ts';

/** Returns how links of a site's answers open. Those without a host lead to the page as it was indexed. */
export function linkTargetOf(domain: string): LinkTarget {
  const pagesUrl = `${location.origin}/`;
  return {
    pagesUrl,
    resolve: (address) =>
      /^(?:https?|mailto):/i.test(address) ? hrefOf(address, pagesUrl) : pageAddress(domain, address),
  };
}
