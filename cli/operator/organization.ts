import { InvalidArgumentError, type Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { createErasure } from '../../db/organizations/erasure.ts';
import { createKeyStore } from '../../db/organizations/keys.ts';
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
        const organization = await createOrganizationDirectory(context.pool).create(options);
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
        await createErasure(context.pool).organization(operatorOf({ organizationId: organization.id }));
        printRecord(command, { id, deleted: true });
      }),
    );

  group
    .command('list')
    .description('list all organizations')
    .action((_options: unknown, command: Command) =>
      withOperator(async ({ pool }) =>
        printList(command, await createOrganizationDirectory(pool).list(), {
          id: (row) => row.id,
          name: (row) => row.name,
          created: (row) => row.createdAt,
        }),
      ),
    );

  addGrantCommands(group, withOperator);
}

async function createAdminKey({ pool, keyPepper }: OperatorContext, organizationId: string): Promise<string> {
  const keys = createKeyStore(pool, keyPepper);
  return (await keys.create(operatorOf({ organizationId }), { kind: 'admin' })).key;
}

function readName(text: string): string {
  const parsed = nameSchema.safeParse(text);
  if (parsed.success) return parsed.data;
  throw new InvalidArgumentError(`It ${parsed.error.issues[0]?.message ?? 'is not valid'}.`);
}
