import { Option } from 'commander';
import type { Command } from 'commander';
import { createProjectStore } from '../../db/projects.ts';
import type { ForgeKind } from '../../db/projects.ts';
import { parseRef } from '../../workflows/contract/ref.ts';
import { organizationOf, readName, repositoryOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { WithContext } from './context.ts';
import { printList, printRecord } from './output.ts';

interface CreateOptions {
  org: string;
  repository: string;
  name?: string;
  ref?: string;
  model?: string;
  forge?: ForgeKind;
  allow: string[];
}

/** `docket project create|list` */
export function addProjectCommands(program: Command, withContext: WithContext): void {
  const group = program.command('project').description('projects: a repository that agent jobs work on');

  group
    .command('create')
    .description('create a project')
    .requiredOption('--org <id>', 'the organization it belongs to')
    .requiredOption('--repository <url>', 'https address of the repository, or a path below the local root')
    .option('--name <name>', 'its name; without it the last part of the repository', readName)
    .option('--ref <branch>', 'branch that jobs begin at; without it the default branch')
    .option('--model <provider/model>', 'model of its jobs; without it DOCKET_AGENT_MODEL')
    .addOption(
      new Option('--forge <kind>', 'where pull requests go; without it as the repository says').choices([
        'local',
        'github',
      ]),
    )
    .option('--allow <url>', 'a further repository that jobs may name (repeatable)', collect, [])
    .action((options: CreateOptions, command: Command) =>
      withContext(async (context) => {
        const organization = await organizationOf(context, options.org);
        const { repository, kind } = repositoryOf(context, options.repository);
        if (options.ref !== undefined && !parseRef(options.ref).ok) {
          throw new CommandError(`${JSON.stringify(options.ref)} is not the name of a branch.`);
        }
        if (options.model !== undefined && !/^[a-z]+\/\S+$/.test(options.model)) {
          throw new CommandError('--model must be a provider and a model, such as anthropic/claude-sonnet-4-5.');
        }
        const project = await createProjectStore(context.pool).create({
          organizationId: organization.id,
          name: options.name ?? nameOf(repository),
          repository,
          defaultRef: options.ref ?? null,
          model: options.model ?? null,
          forge: options.forge ?? (kind === 'local' ? 'local' : 'github'),
          allowedRepositories: options.allow.map((text) => repositoryOf(context, text).repository),
        });
        printRecord(command, { ...project });
      }),
    );

  group
    .command('list')
    .description('list projects')
    .option('--org <id>', 'of one organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(async ({ pool }) =>
        printList(command, await createProjectStore(pool).list(options.org), {
          id: (row) => row.id,
          name: (row) => row.name,
          repository: (row) => row.repository,
          forge: (row) => row.forge,
          organization: (row) => row.organizationId,
        }),
      ),
    );
}

function nameOf(repository: string): string {
  return (
    repository
      .replace(/\/+$/, '')
      .split('/')
      .at(-1)
      ?.replace(/\.git$/, '') || repository
  );
}

function collect(text: string, earlier: string[]): string[] {
  return [...earlier, text];
}
