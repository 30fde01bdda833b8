import { Command } from 'commander';
import type { WithContext } from './context.ts';
import { addEncryptionCommands } from './encryption.ts';
import { addJobCommands } from './job.ts';
import { addKeyCommands } from './key.ts';
import { addOrganizationCommands } from './organization.ts';
import { addProjectCommands } from './project.ts';
import { addSignInCommand } from './sign-in.ts';
import { addSiteCommands } from './site.ts';
import { addWebhookCommands } from './webhook.ts';

/** The `docket` command line. A mistake in its use is printed and thrown as a CommanderError. */
export function createProgram(withContext: WithContext): Command {
  const program = new Command('docket')
    .description('administers organizations, projects, sites, keys and webhooks, and replays jobs')
    .option('--json', 'print JSON')
    .showHelpAfterError('(see --help)')
    .exitOverride();
  addOrganizationCommands(program, withContext);
  addProjectCommands(program, withContext);
  addSiteCommands(program, withContext);
  addKeyCommands(program, withContext);
  addSignInCommand(program, withContext);
  addEncryptionCommands(program, withContext);
  addWebhookCommands(program, withContext);
  addJobCommands(program, withContext);
  return program;
}
