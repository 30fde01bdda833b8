import { InvalidArgumentError, type Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { nameSchema } from '../../lib/inputs/administration.ts';
import { printList, printRecord } from '../commands/output.ts';
import type { OperatorContext, WithOperator } from './context.ts';
import { addGrantCommands } from './grant.ts';
import { organizationOf } from './organization-of.ts';

/** Adds `docket org create|key|delete|list|grant|revoke-grant|grants`. */
export function addOrganizationCommands(program: Command, withOperator: WithOperator): void {
  const group = program
    .command('org')
    .description('organizations and what they may use; for the operator, on the database of the installation');

  group
    .command('create')
    .description('create an organization and its first admin key, which is shown once')
    .requiredOption('--name <name>', 'its name', readName)
    .action((options: { name: string }, command: Command) =>
      withOperator(async (context) => {
        const organization = await context.stores.directory.create(options);
        printRecord(command, { ...organization, adminKey: await createAdminKey(context, organization.id) });
      }),
    );

  group
    .command('key')
    .description('create an admin key for an organization that lost its last one; it is shown once')
    .argument('<id>', 'the id of the organization')
    .action((id: string, _options: unknown, command: Command) =>
      withOperator(async (context) => {
        const organization = await organizationOf(context, id);
        printRecord(command, { id, adminKey: await createAdminKey(context, organization.id) });
      }),
    );

  group
    .command('delete')
    .description(
      'delete an organization and everything that belongs to it, permanently: projects, jobs, sites, conversations, keys',
    )
    .argument('<id>', 'its id')
    .requiredOption('--yes', 'confirm the deletion')
    .action((id: string, _options: unknown, command: Command) =>
      withOperator(async (context) => {
        const organization = await organizationOf(context, id);
        await context.stores.erasure.organization(operatorOf({ organizationId: organization.id }));
        printRecord(command, { id, deleted: true });
      }),
    );

  group
    .command('list')
    .description('list all organizations')
    .action((_options: unknown, command: Command) =>
      withOperator(async ({ stores }) =>
        printList(command, await stores.directory.list(), {
          id: (row) => row.id,
          name: (row) => row.name,
          created: (row) => row.createdAt,
        }),
      ),
    );

  addGrantCommands(group, withOperator);
}

async function createAdminKey({ stores }: OperatorContext, organizationId: string): Promise<string> {
  return (await stores.keys.create(operatorOf({ organizationId }), { kind: 'admin' })).key;
}

function readName(text: string): string {
  const parsed = nameSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It ${parsed.error.issues[0]?.message ?? 'is not valid'}.`);
}
