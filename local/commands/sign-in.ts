import type { Command } from 'commander';
import { createKeyStore } from '../../db/keys.ts';
import type { KeyRow } from '../../db/keys.ts';
import { createOrganizationStore } from '../../db/projects.ts';
import { createSessionStore } from '../../db/sessions.ts';
import { organizationOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { printRecord } from './output.ts';

/** `docket sign-in` */
export function addSignInCommand(program: Command, withContext: WithContext): void {
  program
    .command('sign-in')
    .description('print a link that signs in to the dashboard, once and within 15 minutes')
    .option('--org <id>', 'the organization; needed when there are several')
    .action((options: { org?: string }, command: Command) =>
      withContext(async (context) => {
        const { pool, keyPepper, baseUrl } = context;
        const organizationId = await organizationIdOf(context, options.org);
        const key = (await createKeyStore(pool, keyPepper).list(organizationId)).findLast(isValidAdminKey);
        if (key === undefined) {
          throw new CommandError(
            `The organization has no valid admin key; make one with "docket key create --org ${organizationId} --kind admin".`,
          );
        }
        const link = await createSessionStore(pool, keyPepper).createLink(key.id);
        printRecord(command, { url: `${baseUrl}/sign-in#link=${link}`, organization: organizationId });
      }),
    );
}

async function organizationIdOf(context: CommandContext, id: string | undefined): Promise<string> {
  if (id !== undefined) return (await organizationOf(context, id)).id;
  const organizations = await createOrganizationStore(context.pool).list();
  const [only] = organizations;
  if (only !== undefined && organizations.length === 1) return only.id;
  throw new CommandError('Name the organization with --org; "docket org list" shows the ids.');
}

function isValidAdminKey({ kind, revokedAt, expiresAt }: KeyRow): boolean {
  return kind === 'admin' && revokedAt === null && (expiresAt === null || expiresAt > new Date());
}
