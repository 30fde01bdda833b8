import type { OrganizationRow } from '../../db/organizations/organizations.ts';
import { CommandError } from '../command-error.ts';
import type { OperatorContext } from './context.ts';

/** Returns an organization by its id. */
export async function organizationOf({ stores }: OperatorContext, id: string): Promise<OrganizationRow> {
  const organization = await stores.organizations.get({ organizationId: id });
  if (organization !== null) return organization;
  throw new CommandError(`There is no organization ${JSON.stringify(id)}; "docket org list" lists them.`);
}
