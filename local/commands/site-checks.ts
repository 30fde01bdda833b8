import type { SiteRow, SiteStore } from '../../db/sites.ts';
import { CommandError } from './context.ts';

/** A site by its domain. */
export async function siteOf(sites: SiteStore, domain: string): Promise<SiteRow> {
  const site = await sites.findByDomain(domain);
  if (site !== null) return site;
  throw new CommandError(`There is no site ${JSON.stringify(domain)}; "docket site list" shows those that exist.`);
}
