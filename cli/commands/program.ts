import { Command, Option } from 'commander';
import manifest from '../package.json' with { type: 'json' };
import { addAskCommand } from './ask.ts';
import { connect, type CommandContext } from './context.ts';
import { addJobCommands } from './job.ts';
import { addKeyCommands } from './key.ts';
import { addProjectCommands } from './project.ts';
import { addSiteCommands } from './site.ts';
import { addWebhookCommands } from './webhook.ts';
import { answerOf } from '../http/api.ts';
import { roles, type Role } from '../../lib/roles.ts';
import { printRecord } from './output.ts';

/**
 * Creates the `docket` command line, a client of the HTTP API. A usage error is printed and thrown as a CommanderError.
 */
export function createProgram(context: CommandContext): Command {
  const program = new Command('docket')
    .description('runs agent jobs, asks the documentation, and administers projects, sites, keys and webhooks')
    .version(manifest.version)
    .option('--json', 'print JSON')
    .option('--url <url>', 'URL of the service (default: DOCKET_URL, or the local stack)')
    .option('--key-file <file>', 'file that holds the API key (default: DOCKET_API_KEY, or the key of the local stack)')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  addJobCommands(program, context);
  addAskCommand(program, context);
  addProjectCommands(program, context);
  addSiteCommands(program, context);
  addKeyCommands(program, context);
  addWebhookCommands(program, context);
  addSignInCommand(program, context);
  return program;
}

/** Adds `docket sign-in`. */
function addSignInCommand(program: Command, context: CommandContext): void {
  program
    .command('sign-in')
    .description('print a link that signs in to the dashboard, once and within 15 minutes')
    .option('--name <name>', 'name for the audit log')
    .addOption(new Option('--role <role>', 'highest role of the session').choices(roles))
    .action(async (body: { name?: string; role?: Role }, command: Command) => {
      const { api, baseUrl } = await connect(context, command);
      const { link } = await answerOf(api.POST('/v1/sign-in-links', { body }));
      printRecord(command, { url: `${baseUrl}/sign-in#link=${link}` });
    });
}
