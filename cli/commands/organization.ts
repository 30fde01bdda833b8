import type { Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { createErasure } from '../../db/organizations/erasure.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { readName } from './checks.ts';
import { CommandError, type WithContext } from './context.ts';
import { addGrantCommands } from './grant.ts';
import { printList, printRecord } from './output.ts';

/** `docket org create|delete|list|grant|revoke-grant|grants` */
export function addOrganizationCommands(program: Command, withContext: WithContext): void {
  const group = program.command('org').description('organizations: they own projects, sites and keys');

  group
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'its name', readName)
    .action((options: { name: string }, command: Command) =>
      withContext(async ({ pool }) =>
        printRecord(command, { ...(await createOrganizationDirectory(pool).create(options)) }),
      ),
    );

  group
    .command('delete')
    .description(
      'delete an organization and everything that belongs to it, permanently: projects, jobs, sites, conversations, keys',
    )
    .argument('<id>', 'its id')
    .requiredOption('--yes', 'there is no way back')
    .action((id: string, _options: unknown, command: Command) =>
      withContext(async ({ pool }) => {
        const isDeleted = await createErasure(pool).organization(operatorOf({ organizationId: id }));
        if (!isDeleted) throw new CommandError(`There is no organization ${id}.`);
        printRecord(command, { id, deleted: true });
      }),
    );

  group
    .command('list')
    .description('list all organizations')
    .action((_options: unknown, command: Command) =>
      withContext(async ({ pool }) =>
        printList(command, await createOrganizationDirectory(pool).list(), {
          id: (row) => row.id,
          name: (row) => row.name,
          created: (row) => row.createdAt,
        }),
      ),
    );

  addGrantCommands(group, withContext);
}
