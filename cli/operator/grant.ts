import { join } from 'node:path';
import type { Command } from 'commander';
import { parseGrant, widerGrants } from '../../lib/inputs/grants.ts';
import { CommandError } from '../command-error.ts';
import { printList, printRecord } from '../commands/output.ts';
import type { OperatorContext, WithOperator } from './context.ts';
import { organizationOf } from './organization-of.ts';

const resourceHelp =
  'https://host/owner/name, or a path of this machine (a relative one lies below DOCKET_LOCAL_REPOSITORIES); with "/*" at the end everything below; "merge:https://…" to merge on a forge; "*" for everything';

/** Adds `docket org grant|revoke-grant|grants`. */
export function addGrantCommands(group: Command, withOperator: WithOperator): void {
  group
    .command('grant')
    .description(
      "let an organization use repositories with the service's own credential, merge into them, or use a path on this machine",
    )
    .argument('<org>', 'the id of the organization')
    .argument('<resource>', resourceHelp)
    .action((id: string, text: string, _options: unknown, command: Command) =>
      withOperator(async (context) => {
        const { id: organizationId } = await organizationOf(context, id);
        const resource = resourceOf(context, text);
        const isNew = await context.stores.grantAdministration.grant({ organizationId }, resource);
        printRecord(command, { organization: organizationId, resource, granted: isNew ? 'now' : 'already' });
      }),
    );

  group
    .command('revoke-grant')
    .description('revoke a grant; running jobs and sites that need it fail at their next step')
    .argument('<org>', 'the id of the organization')
    .argument('<resource>', 'as "docket org grants" shows it')
    .action((id: string, text: string, _options: unknown, command: Command) =>
      withOperator(async (context) => {
        const { id: organizationId } = await organizationOf(context, id);
        const resource = resourceOf(context, text);
        if (!(await context.stores.grantAdministration.revoke({ organizationId }, resource)))
          throw new CommandError(
            `The organization has no grant for ${resource}; "docket org grants" shows what it has.`,
          );
        const wider = widerGrants(await context.stores.grants.resources({ organizationId }), resource);
        const granted = wider.length === 0 ? 'no longer' : `still, by ${wider.join(' and ')}`;
        printRecord(command, { organization: organizationId, resource, granted });
      }),
    );

  group
    .command('grants')
    .description('list the grants of organizations')
    .argument('[org]', "an organization's id")
    .action((id: string | undefined, _options: unknown, command: Command) =>
      withOperator(async ({ stores }) =>
        printList(command, await stores.grantAdministration.list(id ?? null), {
          organization: (row) => row.organizationId,
          resource: (row) => row.resource,
          created: (row) => row.createdAt,
        }),
      ),
    );
}

function resourceOf({ localRoot }: OperatorContext, text: string): string {
  const isRelative = text !== '*' && !text.startsWith('/') && !text.includes(':');
  if (isRelative && localRoot === null)
    throw new CommandError('DOCKET_LOCAL_REPOSITORIES is not set, so the path must be absolute.');
  const parsed = parseGrant(isRelative && localRoot !== null ? join(localRoot, text) : text);
  if (!parsed.ok) throw new CommandError(parsed.problem);
  return parsed.resource;
}
