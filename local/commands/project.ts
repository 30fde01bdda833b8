import { Option } from 'commander';
import type { Command } from 'commander';
import { recogniseForge } from '../../activities/clients/recognise-forge.ts';
import { createProjectCredentialStore } from '../../db/project-credentials.ts';
import { createProjectStore, forgeKinds } from '../../db/projects.ts';
import type { ForgeKind } from '../../db/projects.ts';
import { createSecretBox } from '../../encryption/secret-box.ts';
import { parseRef } from '../../workflows/contract/ref.ts';
import { organizationOf, readName, repositoryOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { printList, printRecord } from './output.ts';
import { addBudgetOptions, budgetsOf, type BudgetOptions } from './project-budget.ts';
import { addReviewOptions, reviewOf, type ReviewOptions } from './project-review.ts';

interface CreateOptions extends ReviewOptions, BudgetOptions {
  org: string;
  repository: string;
  name?: string;
  ref?: string;
  model?: string;
  forge?: ForgeKind;
  allow: string[];
  tokenStdin?: true;
}

interface UpdateOptions extends ReviewOptions, BudgetOptions {
  tokenStdin?: true;
  removeToken?: true;
}

const tokenOption = [
  '--token-stdin',
  'token for the forge, read from standard input: contents and pull requests, read and write',
] as const;

/** `docket project create|update|list` */
export function addProjectCommands(program: Command, withContext: WithContext): void {
  const group = program.command('project').description('projects: a repository that agent jobs work on');

  const create = group
    .command('create')
    .description('create a project')
    .requiredOption('--org <id>', 'the organization it belongs to')
    .requiredOption('--repository <url>', 'https address of the repository, or a path below the local root')
    .option('--name <name>', 'its name; without it the last part of the repository', readName)
    .option('--ref <branch>', 'branch that jobs begin at; without it the default branch')
    .option('--model <provider/model>', 'model of its jobs; without it DOCKET_AGENT_MODEL')
    .addOption(
      new Option('--forge <kind>', 'where pull requests go; without it as the server of the repository says').choices(
        forgeKinds,
      ),
    )
    .option('--allow <url>', 'a further repository that jobs may name (repeatable)', collect, [])
    .option(...tokenOption);
  addBudgetOptions(addReviewOptions(create)).action((options: CreateOptions, command: Command) =>
    withContext(async (context) => {
      const organization = await organizationOf(context, options.org);
      const { repository, kind } = repositoryOf(context, options.repository);
      if (options.ref !== undefined && !parseRef(options.ref).ok) {
        throw new CommandError(`${JSON.stringify(options.ref)} is not the name of a branch.`);
      }
      if (options.model !== undefined && !/^[a-z]+\/\S+$/.test(options.model)) {
        throw new CommandError('--model must be a provider and a model, such as anthropic/claude-sonnet-4-5.');
      }
      const forge = options.forge ?? (kind === 'local' ? 'local' : await forgeOf(repository));
      const token = options.tokenStdin === true ? await readToken(context, forge) : null;
      const project = await createProjectStore(context.pool).create({
        organizationId: organization.id,
        name: options.name ?? nameOf(repository),
        repository,
        defaultRef: options.ref ?? null,
        model: options.model ?? null,
        forge,
        allowedRepositories: options.allow.map((text) => repositoryOf(context, text).repository),
        ...reviewOf(options),
        ...budgetsOf(options),
      });
      if (token !== null) await credentialsOf(context).write(project.id, token);
      printRecord(command, { ...project, hasCredential: token !== null });
    }),
  );

  const update = group
    .command('update')
    .description('change a project; jobs under way take its new token from their next step on')
    .argument('<id>', 'the id of the project')
    .option(...tokenOption)
    .addOption(new Option('--remove-token', "forget its token; jobs use the worker's").conflicts('tokenStdin'));
  addBudgetOptions(addReviewOptions(update)).action((id: string, options: UpdateOptions, command: Command) =>
    withContext(async (context) => {
      const projects = createProjectStore(context.pool);
      const project = await projects.get(id);
      if (project === null) {
        throw new CommandError(`There is no project ${JSON.stringify(id)}; "docket project list" shows the ids.`);
      }
      const change = { ...reviewOf(options), ...budgetsOf(options) };
      const isTokenGiven = options.tokenStdin === true || options.removeToken === true;
      if (!isTokenGiven && Object.keys(change).length === 0) {
        throw new CommandError('Say what to change, such as --token-stdin or --reviewer; --help shows what there is.');
      }
      const token = options.tokenStdin === true ? await readToken(context, project.forge) : null;
      if (isTokenGiven) await credentialsOf(context).write(id, token);
      printRecord(command, { ...(await projects.update(id, change)) });
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
          token: (row) => (row.hasCredential ? 'set' : null),
          organization: (row) => row.organizationId,
        }),
      ),
    );
}

function credentialsOf({ pool, encryptionKeys }: CommandContext) {
  return createProjectCredentialStore(pool, createSecretBox(encryptionKeys));
}

async function readToken({ readInput }: CommandContext, forge: ForgeKind): Promise<string> {
  if (forge === 'local') throw new CommandError('The local forge needs no token.');
  const token = (await readInput()).trim();
  if (/^[\x21-\x7e]{6,1000}$/.test(token)) return token;
  throw new CommandError('Standard input must hold the token and nothing else: 6 to 1000 characters without blanks.');
}

/** What the server of the repository is. */
async function forgeOf(repository: string): Promise<ForgeKind> {
  const kind = await recogniseForge(repository, AbortSignal.timeout(20_000));
  if (kind !== null) return kind;
  throw new CommandError(
    `The server of the repository does not say what it is; name it with --forge (${forgeKinds.join(', ')}).`,
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
