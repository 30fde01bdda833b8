import type { Owner } from '../../db/caller.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import { siteNotFound } from '../http/errors.ts';

export type ReadSite = (owner: Owner, domain: string) => Promise<SiteRow>;

/** Creates a reader of sites. It throws one 404 for a missing site and for one of another organization. */
export function createSiteReader({ sites }: { sites: Pick<SiteStore, 'findByDomain'> }): ReadSite {
  return async function readSite(owner, domain) {
    const site = await sites.findByDomain(owner, domain);
    if (site === null) throw siteNotFound();
    return site;
  };
}
