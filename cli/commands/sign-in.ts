import type { Command } from 'commander';
import { answerOf } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { printRecord } from './output.ts';

/** `docket sign-in` */
export function addSignInCommand(program: Command, context: CommandContext): void {
  program
    .command('sign-in')
    .description('print a link that signs in to the dashboard, once and within 15 minutes')
    .option('--name <name>', 'name for the audit log')
    .action(async ({ name }: { name?: string }, command: Command) => {
      const { api, baseUrl } = await connect(context, command);
      const { link } = await answerOf(api.POST('/v1/sign-in-links', { body: { name } }));
      printRecord(command, { url: `${baseUrl}/sign-in#link=${link}` });
    });
}
