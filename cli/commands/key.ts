import { Option } from 'commander';
import type { Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { everyRow } from '../../db/page.ts';
import { createKeyStore } from '../../db/organizations/keys.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import type { KeyKind, KeyRow } from '../../db/organizations/keys.ts';
import { organizationOf, ownersOf, readExpiry, readName } from './checks.ts';
import { CommandError } from './context.ts';
import type { WithContext } from './context.ts';
import { printList, printRecord } from './output.ts';

interface CreateOptions {
  org: string;
  kind: KeyKind;
  name?: string;
  expires: Date | null;
}

/** `docket key create|list|revoke` */
export function addKeyCommands(program: Command, withContext: WithContext): void {
  const group = program.command('key').description('API keys: admin (secret) and assistant (public)');

  group
    .command('create')
    .description('create a key; it is shown once')
    .requiredOption('--org <id>', 'the organization it belongs to')
    .addOption(new Option('--kind <kind>', 'description').choices(['admin', 'assistant']).makeOptionMandatory())
    .option('--name <name>', 'name shown in lists', readName)
    .addOption(
      new Option('--expires <days>', 'such as 90d, or never').argParser(readExpiryOption).default(null, 'never'),
    )
    .action((options: CreateOptions, command: Command) =>
      withContext(async (context) => {
        const organization = await organizationOf(context, options.org);
        const { key, row } = await createKeyStore(context.pool, context.keyPepper).create(
          operatorOf({ organizationId: organization.id }),
          {
            kind: options.kind,
            name: options.name,
            expiresAt: options.expires || undefined,
          },
        );
        printRecord(command, { key, ...row });
      }),
    );

  group
    .command('list')
    .description('list keys, without their secrets')
    .option('--org <id>', 'only this organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(async (context) => {
        const keys = createKeyStore(context.pool, context.keyPepper);
        const owners = await ownersOf(context, options.org);
        const rows = await Promise.all(owners.map((owner) => everyRow((query) => keys.list(owner, query))));
        printList(command, rows.flat(), {
          id: (row) => row.id,
          kind: (row) => row.kind,
          name: (row) => row.name,
          organization: (row) => row.organizationId,
          state: stateOf,
          'last used': (row) => row.lastUsedAt,
        });
      }),
    );

  group
    .command('revoke')
    .description('revoke a key; it stops working within 5 seconds')
    .argument('<id>', 'the id of the key, 12 characters')
    .action((id: string, _options: unknown, command: Command) =>
      withContext(async ({ pool, keyPepper }) => {
        const owner = await createOrganizationDirectory(pool).ownerOfKey(id);
        if (owner === null)
          throw new CommandError(`There is no key ${JSON.stringify(id)}; "docket key list" shows the ids.`);
        await createKeyStore(pool, keyPepper).revoke(operatorOf(owner), id);
        printRecord(command, { id, revoked: true });
      }),
    );
}

function readExpiryOption(text: string): Date | null {
  return readExpiry(text);
}

function stateOf({ revokedAt, expiresAt }: KeyRow): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  return expiresAt.getTime() > Date.now() ? `until ${expiresAt.toISOString().slice(0, 10)}` : 'expired';
}
