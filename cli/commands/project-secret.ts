import type { Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { answerOf, done } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { printList, printRecord } from './output.ts';

/** Adds `docket project secret set|list|delete`. */
export function addSecretCommands(project: Command, context: CommandContext): void {
  const group = project.command('secret').description('setup secrets of a project, which agents cannot read');

  onSecret(group.command('set').description('set a secret to the value on standard input')).action(
    async (id: string, name: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const value = (await context.readInput()).replace(/\r?\n$/, '');
      if (value === '')
        throw new CommandError('Standard input is empty. Send the value of the secret to it.', { exitCode: 2 });
      const params = { path: { id } };
      printRecord(command, await answerOf(api.POST('/v1/projects/{id}/secrets', { params, body: { name, value } })));
    },
  );

  onSecret(group.command('delete').description('delete a secret')).action(
    async (id: string, name: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      await done(api.DELETE('/v1/projects/{id}/secrets/{name}', { params: { path: { id, name } } }));
      printRecord(command, { id, name, deleted: true });
    },
  );

  group
    .command('list')
    .description('list the names of the secrets')
    .argument('<id>', 'the id of the project')
    .action(async (id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const { secrets } = await answerOf(api.GET('/v1/projects/{id}/secrets', { params: { path: { id } } }));
      printList(command, secrets, { name: (secret) => secret.name, updated: (secret) => secret.updatedAt });
    });
}

function onSecret(command: Command): Command {
  return command.argument('<id>', 'the id of the project').argument('<name>', 'the name of the variable');
}
