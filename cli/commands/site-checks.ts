import type { Command } from 'commander';
import { operatorOf, type Caller } from '../../db/caller.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { createSiteStore, type SiteRow, type SiteStore } from '../../db/sites/sites.ts';
import { organizationOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext } from './context.ts';

/** A site, and the operator acting for its organization. */
export interface FoundSite {
  sites: SiteStore;
  operator: Caller;
  site: SiteRow;
}

/** Adds the option that tells sites of the same domain apart. */
export function addSiteOwnerOption(command: Command): Command {
  return command.option('--org <id>', 'its organization; required if several have a site with this domain');
}

/** A site by its domain. */
export async function siteOf(context: CommandContext, domain: string, org: string | undefined): Promise<FoundSite> {
  const owners =
    org === undefined
      ? await createOrganizationDirectory(context.pool).ownersOfDomain(domain)
      : [{ organizationId: (await organizationOf(context, org)).id }];
  const [owner] = owners;
  if (owners.length > 1)
    throw new CommandError(`Several organizations have a site ${JSON.stringify(domain)}. Name one of them with --org.`);
  const sites = createSiteStore(context.pool);
  const site = owner === undefined ? null : await sites.findByDomain(owner, domain);
  if (site !== null) return { sites, operator: operatorOf(site), site };
  throw new CommandError(`There is no site ${JSON.stringify(domain)}; "docket site list" shows those that exist.`);
}
