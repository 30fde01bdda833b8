import type { Command } from 'commander';
import { createOrganizationStore } from '../../db/projects.ts';
import { readName } from './checks.ts';
import type { WithContext } from './context.ts';
import { addGrantCommands } from './grant.ts';
import { printList, printRecord } from './output.ts';

/** `docket org create|list|grant|revoke-grant|grants` */
export function addOrganizationCommands(program: Command, withContext: WithContext): void {
  const group = program.command('org').description('organizations: they own projects, sites and keys');

  group
    .command('create')
    .description('create an organization')
    .requiredOption('--name <name>', 'its name', readName)
    .action((options: { name: string }, command: Command) =>
      withContext(async ({ pool }) =>
        printRecord(command, { ...(await createOrganizationStore(pool).create(options)) }),
      ),
    );

  group
    .command('list')
    .description('list all organizations')
    .action((_options: unknown, command: Command) =>
      withContext(async ({ pool }) =>
        printList(command, await createOrganizationStore(pool).list(), {
          id: (row) => row.id,
          name: (row) => row.name,
          created: (row) => row.createdAt,
        }),
      ),
    );

  addGrantCommands(group, withContext);
}
