import { Option } from 'commander';
import type { Command } from 'commander';
import { operatorOf } from '../../db/caller.ts';
import { createErasure } from '../../db/organizations/erasure.ts';
import { everyRow } from '../../db/page.ts';
import { createProjectStore, forgeKinds } from '../../db/organizations/projects.ts';
import type { ForgeKind, ProjectRow, ProjectSettings, ProjectStore } from '../../db/organizations/projects.ts';
import { createSecretBox } from '../../lib/encryption/secret-box.ts';
import {
  branchSchema,
  forgeTokenSchema,
  modelNameSchema,
  nameOfRepository,
  nameSchema,
  wellKnownForges,
} from '../../lib/inputs/administration.ts';
import { addedRepositories, problemWithToken } from '../../lib/inputs/grants.ts';
import { sshPlaceOf } from '../../lib/inputs/ssh-keys.ts';
import { operatorOfProject, organizationOf, ownersOf, readBy, readName, readOrNone, repositoryOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { checkRepositories } from './grant.ts';
import { printList, printRecord } from './output.ts';
import { addBudgetOptions, budgetsOf, type BudgetOptions } from './project-budget.ts';
import { addReviewOptions, reviewOf, type ReviewOptions } from './project-review.ts';
import { addRunOptions, runOf, type RunOptions } from './project-run.ts';
import { addRemoveSshKey, addSshOptions, checkSsh, sshOf, type SshOptions } from './project-ssh.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';

interface CreateOptions extends ReviewOptions, BudgetOptions, RunOptions, SshOptions {
  org: string;
  repository: string;
  name?: string;
  ref?: string;
  model?: string;
  forge?: ForgeKind;
  allow: string[];
  tokenStdin?: true;
}

interface UpdateOptions extends ReviewOptions, BudgetOptions, RunOptions, SshOptions {
  name?: string;
  repository?: string;
  ref?: string;
  model?: string;
  allow?: string[];
  tokenStdin?: true;
  removeToken?: true;
}

const tokenOption = [
  '--token-stdin',
  'token for the forge, read from standard input: contents and pull requests, read and write',
] as const;

/** `docket project create|update|delete|list` */
export function addProjectCommands(program: Command, withContext: WithContext): void {
  const group = program.command('project').description('projects: a repository that agent jobs work on');

  const create = group
    .command('create')
    .description('create a project')
    .requiredOption('--org <id>', 'the organization it belongs to')
    .requiredOption('--repository <url>', 'https or ssh address of the repository, or a path below the local root')
    .option('--name <name>', 'name (default: the last part of the repository)', readName)
    .option('--ref <branch>', 'branch that jobs start from (default: the default branch)', readBy(branchSchema))
    .option('--model <provider/model>', 'model of its jobs (default: DOCKET_AGENT_MODEL)', readBy(modelNameSchema))
    .addOption(
      new Option(
        '--forge <kind>',
        "where pull requests are opened (default: detected from the repository's server)",
      ).choices(forgeKinds),
    )
    .option('--allow <url>', 'another repository that jobs may name (repeatable)', collect, [])
    .option(...tokenOption);
  addSshOptions(addRunOptions(addBudgetOptions(addReviewOptions(create)))).action(
    (options: CreateOptions, command: Command) =>
      withContext(async (context) => {
        const organization = await organizationOf(context, options.org);
        const { repository, kind } = repositoryOf(context, options.repository);
        const allowedRepositories = options.allow.map((text) => repositoryOf(context, text).repository);
        const { sshKey = null, sshKnownHosts = [] } = await sshOf(context, options);
        checkSsh({
          repositories: [repository, ...allowedRepositories],
          hasKey: sshKey !== null,
          knownHosts: sshKnownHosts,
        });
        const forge = options.forge ?? (kind === 'local' ? 'local' : await forgeOf(repository));
        const forgeToken = options.tokenStdin === true ? await readToken(context, forge) : null;
        const review = reviewOf(options);
        await checkRepositories(context, {
          organizationId: organization.id,
          repositories: [repository, ...allowedRepositories],
          forgeUrl: review.forgeUrl,
          needsCredential: forgeToken === null,
        });
        const project = await storeOf(context).create(operatorOf({ organizationId: organization.id }), {
          name: options.name ?? nameOfRepository(repository),
          repository,
          defaultRef: options.ref ?? null,
          model: options.model ?? null,
          forge,
          allowedRepositories,
          sshKnownHosts,
          forgeToken,
          sshKey,
          ...review,
          ...budgetsOf(options),
          ...runOf(options),
        });
        printRecord(command, { ...project });
      }),
  );

  const update = group
    .command('update')
    .description('change a project; running jobs use a new token from their next step')
    .argument('<id>', 'the id of the project')
    .option('--name <name>', 'its name', readBy(nameSchema))
    .option('--repository <url>', 'another repository on the same forge; existing jobs keep theirs')
    .option('--ref <branch>', 'branch that jobs start from; "" is the default branch', readOrNone(branchSchema))
    .option('--model <provider/model>', 'model of its jobs; "" is DOCKET_AGENT_MODEL', readOrNone(modelNameSchema))
    .option('--allow <url>', 'another repository that jobs may name (repeatable; "" for none)', collectOrNone)
    .option(...tokenOption)
    .addOption(new Option('--remove-token', "forget its token; jobs use the worker's").conflicts('tokenStdin'));
  addRemoveSshKey(addSshOptions(addRunOptions(addBudgetOptions(addReviewOptions(update))))).action(
    (id: string, options: UpdateOptions, command: Command) =>
      withContext(async (context) => {
        const projects = storeOf(context);
        const operator = await operatorOfProject(context, id);
        const project = await projects.get(operator, id);
        if (project === null) throw new CommandError('The project was deleted meanwhile.');
        const settings = {
          ...(await sshOf(context, options)),
          ...settingsOf(context, options),
          ...(options.repository !== undefined && { repository: movedTo(context, project, options.repository) }),
          ...reviewOf(options),
          ...budgetsOf(options),
          ...runOf(options),
        };
        const isTokenGiven = options.tokenStdin === true || options.removeToken === true;
        if (!isTokenGiven && Object.keys(settings).length === 0) {
          throw new CommandError('Name at least one change, such as --token-stdin or --reviewer; see --help.');
        }
        const forgeToken = options.tokenStdin === true ? await readToken(context, project.forge) : null;
        const change = { ...settings, ...(isTokenGiven && { forgeToken }) };
        const after = { ...project, ...change };
        const { organizationId, forgeUrl } = after;
        const hasKey = change.sshKey === undefined ? project.hasSshKey : change.sshKey !== null;
        const repositories = [after.repository, ...after.allowedRepositories];
        checkSsh({ repositories, hasKey, knownHosts: after.sshKnownHosts });
        const problem = problemWithToken(project, after, isTokenGiven);
        if (problem !== null) throw new CommandError(problem);
        const needsCredential = isTokenGiven ? forgeToken === null : !project.hasCredential;
        const added = addedRepositories(project, after);
        await checkRepositories(context, { organizationId, repositories: added, forgeUrl, needsCredential });
        printRecord(command, { ...(await projects.update(operator, id, change)) });
      }),
  );

  group
    .command('delete')
    .description('delete a project with its jobs, webhooks and credentials, permanently')
    .argument('<id>', 'its id')
    .requiredOption('--yes', 'there is no way back')
    .action((id: string, _options: unknown, command: Command) =>
      withContext(async (context) => {
        const operator = await operatorOfProject(context, id);
        await createErasure(context.pool).project(operator, id);
        printRecord(command, { id, deleted: true });
      }),
    );

  group
    .command('list')
    .description('list projects')
    .option('--org <id>', 'only this organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(async (context) => {
        const owners = await ownersOf(context, options.org);
        const projects = await Promise.all(
          owners.map((owner) => everyRow((query) => storeOf(context).list(owner, query))),
        );
        printList(command, projects.flat(), {
          id: (row) => row.id,
          name: (row) => row.name,
          repository: (row) => repositoryUrl(row.repository),
          forge: (row) => row.forge,
          token: (row) => (row.hasCredential ? 'set' : null),
          ssh: (row) => (row.hasSshKey ? 'set' : null),
          organization: (row) => row.organizationId,
        });
      }),
    );
}

function movedTo(context: CommandContext, { forge }: ProjectRow, text: string): string {
  const moved = repositoryOf(context, text);
  const named = moved.kind === 'local' ? 'local' : wellKnownForges[moved.host];
  if ((named ?? forge) !== forge || (forge === 'local') !== (moved.kind === 'local'))
    throw new CommandError('The repository is on another forge. Create a project for it.');
  return moved.repository;
}

function settingsOf(context: CommandContext, { name, ref, model, allow }: UpdateOptions): ProjectSettings {
  return {
    ...(name === undefined ? {} : { name }),
    ...(ref === undefined ? {} : { defaultRef: ref || null }),
    ...(model === undefined ? {} : { model: model || null }),
    ...(allow === undefined
      ? {}
      : { allowedRepositories: allow.map((text) => repositoryOf(context, text).repository) }),
  };
}

function storeOf({ pool, encryptionKeys }: CommandContext): ProjectStore {
  return createProjectStore(pool, createSecretBox(encryptionKeys));
}

async function readToken({ readInput }: CommandContext, forge: ForgeKind): Promise<string> {
  if (forge === 'local') throw new CommandError('The local forge needs no token.');
  const token = forgeTokenSchema.safeParse(await readInput());
  if (token.success) return token.data;
  throw new CommandError(`Standard input ${token.error.issues[0]?.message ?? 'is no token'}.`);
}

/** What the server of the repository is. */
async function forgeOf(repository: string): Promise<ForgeKind> {
  // whoever administers this machine may ask whatever it reaches
  const host = sshPlaceOf(repository)?.host ?? new URL(repository).hostname;
  const [{ createEgress }, { recogniseForge }] = await Promise.all([
    import('../../activities/network/egress.ts'),
    import('../../activities/forges/recognise-forge.ts'),
  ]);
  const egress = createEgress({ privateHosts: [host] });
  const kind = await recogniseForge(repository, { egress, signal: AbortSignal.timeout(20_000) });
  if (kind !== null) return kind;
  throw new CommandError(
    `The server of the repository does not say what it is; name it with --forge (${forgeKinds.join(', ')}).`,
  );
}

function collect(text: string, earlier: string[]): string[] {
  return [...earlier, text];
}

function collectOrNone(text: string, earlier: string[] = []): string[] {
  return text === '' ? [] : [...earlier, text];
}
