import type { Owner } from '../../db/caller.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import type { ApiCaller } from '../access/api-caller.ts';
import { siteNotFound } from '../http/errors.ts';

/** Returns the site of an owner. Its `site` is the site of that domain, if it has been looked up. */
export type ReadSite = (owner: Owner & Pick<ApiCaller, 'site'>, domain: string) => Promise<SiteRow>;

/** Creates a reader of sites. It throws one 404 for a missing site and for one of another organization. */
export function createSiteReader({ sites }: { sites: Pick<SiteStore, 'findByDomain'> }): ReadSite {
  return async function readSite(owner, domain) {
    const site = await (owner.site ?? sites.findByDomain(owner, domain));
    if (site === null) throw siteNotFound();
    return site;
  };
}
