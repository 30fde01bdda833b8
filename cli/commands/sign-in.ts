import type { Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { everyRow } from '../../db/page.ts';
import { createKeyStore } from '../../db/organizations/keys.ts';
import type { KeyRow } from '../../db/organizations/keys.ts';
import { createOrganizationDirectory } from '../../db/for-operator/organizations.ts';
import { createSessionStore } from '../../db/organizations/sessions.ts';
import { organizationOf, readName } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { printRecord } from './output.ts';

/** `docket sign-in` */
export function addSignInCommand(program: Command, withContext: WithContext): void {
  program
    .command('sign-in')
    .description('print a link that signs in to the dashboard, once and within 15 minutes')
    .option('--org <id>', 'the organization; required if there are several')
    .option('--name <name>', 'name for the audit log', readName)
    .action((options: { org?: string; name?: string }, command: Command) =>
      withContext(async (context) => {
        const { pool, keyPepper, baseUrl } = context;
        const operator = operatorOf({ organizationId: await organizationIdOf(context, options.org) });
        const keys = createKeyStore(pool, keyPepper);
        const key = (await everyRow((query) => keys.list(operator, query))).findLast(isValidAdminKey);
        if (key === undefined) {
          throw new CommandError(
            `The organization has no valid admin key; make one with "docket key create --org ${operator.organizationId} --kind admin".`,
          );
        }
        const link = await createSessionStore(pool, keyPepper).createLink(operator, {
          keyId: key.id,
          person: options.name,
        });
        printRecord(command, { url: `${baseUrl}/sign-in#link=${link}`, organization: operator.organizationId });
      }),
    );
}

async function organizationIdOf(context: CommandContext, id: string | undefined): Promise<string> {
  if (id !== undefined) return (await organizationOf(context, id)).id;
  const organizations = await createOrganizationDirectory(context.pool).list();
  const [only] = organizations;
  if (only !== undefined && organizations.length === 1) return only.id;
  throw new CommandError('Name the organization with --org; "docket org list" shows the ids.');
}

function isValidAdminKey({ kind, revokedAt, expiresAt }: KeyRow): boolean {
  return kind === 'admin' && revokedAt === null && (expiresAt === null || expiresAt > new Date());
}
