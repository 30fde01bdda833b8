import { Option, type Command } from 'commander';
import type { paths } from '../../dashboard/http/schema.d.ts';
import { answerOf, done, everyItem } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import {
  addModelOptions,
  checkChange,
  collect,
  modelFieldsOf,
  orNull,
  readDollars,
  readSecretPath,
  textOf,
  type ModelOptions,
} from './options.ts';
import { printList, printRecord } from './output.ts';
import { addSecretCommands } from './project-secret.ts';
import { addMcpCommands } from './project-mcp.ts';
import { onProject } from './project-of.ts';
import { addGuidanceCommand } from './project-guidance.ts';

type ProjectChange = paths['/v1/projects/{id}']['patch']['requestBody']['content']['application/json'];

interface SettingOptions extends ModelOptions {
  name?: string;
  repository?: string;
  ref?: string;
  allow?: string[];
  forgeUrl?: string;
  reviewer?: string[];
  label?: string[];
  assignee?: string[];
  path?: string[];
  workflows?: boolean;
  run?: boolean;
  plan?: 'review' | 'none';
  ask?: boolean;
  selfReview?: boolean;
  check?: string;
  environment?: string;
  fetchHost?: string[];
  jobBudget?: number | '';
  dailyBudget?: number | '';
  tokenStdin?: true;
  removeToken?: true;
  sshKey?: string;
  sshKeyStdin?: true;
  removeSshKey?: true;
  sshKnownHosts?: string;
}

const plans = ['none', 'review'] as const;
const forges = ['github', 'gitlab', 'gitea', 'local'] as const;

/** Adds `docket project create|show|update|delete|guidance|mcp|list`. */
export function addProjectCommands(program: Command, context: CommandContext): void {
  const group = program.command('project').description('projects: a repository that agent jobs work on');

  addSettings(group.command('create').description('create a project'))
    .requiredOption('--repository <url>', 'https, ssh or file:/// URL of the repository')
    .addOption(
      new Option('--forge <kind>', 'where pull requests are opened, if the host does not determine it').choices(forges),
    )
    .action(
      async (options: SettingOptions & { repository: string; forge?: (typeof forges)[number] }, command: Command) => {
        const { api } = await connect(context, command);
        const { repository, forge } = options;
        const body = { ...(await settingsOf(context, options)), repository, forge };
        printRecord(command, await answerOf(api.POST('/v1/projects', { body })));
      },
    );

  onProject(group.command('show').description('show a project')).action(
    async (id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      printRecord(command, await answerOf(api.GET('/v1/projects/{id}', { params: { path: { id } } })));
    },
  );

  addSettings(
    onProject(
      group.command('update').description('change a project; running jobs use a new token from their next step'),
    ),
  )
    .option('--repository <url>', 'another repository on the same forge; existing jobs keep theirs')
    .addOption(new Option('--remove-token', "remove its token; jobs then use the worker's").conflicts('tokenStdin'))
    .addOption(new Option('--remove-ssh-key', 'remove its private key for ssh').conflicts(['sshKey', 'sshKeyStdin']))
    .action(async (id: string, options: SettingOptions, command: Command) => {
      const body = await settingsOf(context, options);
      checkChange(body);
      const { api } = await connect(context, command);
      printRecord(command, await answerOf(api.PATCH('/v1/projects/{id}', { params: { path: { id } }, body })));
    });

  onProject(
    group.command('delete').description('delete a project with its jobs, webhooks and credentials, permanently'),
  )
    .requiredOption('--yes', 'confirm the deletion')
    .action(async (id: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      await done(api.DELETE('/v1/projects/{id}', { params: { path: { id } } }));
      printRecord(command, { id, deleted: true });
    });

  addGuidanceCommand(group, context);
  addSecretCommands(group, context);
  addMcpCommands(group, context);

  group
    .command('list')
    .description('list projects')
    .action(async (_options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const projects = await everyItem(
        (query) => answerOf(api.GET('/v1/projects', { params: { query } })),
        (page) => page.projects,
      );
      printList(command, projects, {
        id: (project) => project.id,
        name: (project) => project.name,
        repository: (project) => project.repository,
        forge: (project) => project.forge,
        token: (project) => (project.hasForgeToken ? 'set' : null),
        ssh: (project) => (project.hasSshKey ? 'set' : null),
      });
    });
}

/**
 * Adds the options of a project. A secret comes from a file or from standard input, never from the command line itself.
 */
function addSettings(command: Command): Command {
  return addModelOptions(command, 'model of its jobs ("" for DOCKET_AGENT_MODEL)')
    .option('--name <name>', 'name (default: the last part of the repository)')
    .option('--ref <branch>', 'branch that jobs start from ("" for the default branch)')
    .option('--allow <url>', 'another repository that jobs may use (repeatable; "" for none)', collect)
    .option(
      '--forge-url <url>',
      'URL of the forge, if it is not the root of the repository\'s server ("" for the root)',
    )
    .option('--reviewer <login>', 'reviewer of its pull requests (repeatable; "" for none)', collect)
    .option('--label <name>', 'label of its pull requests (repeatable; "" for none)', collect)
    .option('--assignee <login>', 'assignee of its pull requests (repeatable; "" for none)', collect)
    .option('--path <glob>', 'paths that jobs may change, such as "docs/**" (repeatable; "" for all)', collect)
    .option('--workflows', 'allow changes to files that the forge runs, such as .github/workflows')
    .option('--no-workflows', 'do not allow them (default)')
    .option('--run', "let agents run commands in the worker's sandbox (default)")
    .option('--no-run', 'do not let agents run commands')
    .addOption(new Option('--plan <plan>', 'review: a person approves the plan of a job first').choices(plans))
    .option('--ask', 'let agents ask a person questions')
    .option('--no-ask', 'do not let them (default)')
    .option('--self-review', 'let agents review their change before it is published (default)')
    .option('--no-self-review', 'do not let them')
    .option('--check <command>', 'shell command that must succeed before the agent may finish ("" for none)')
    .option('--environment <file>', 'where its jobs run, in place of .docket/environment.yml ("" for none)')
    .option(
      '--fetch-host <host>',
      'host of web pages that agents may fetch, such as "*.example.com" (repeatable; "" for none)',
      collect,
    )
    .option('--job-budget <dollars>', 'US dollars per turn of a job, or "none"', readDollars)
    .option('--daily-budget <dollars>', 'US dollars per day (UTC) for all jobs, or "none"', readDollars)
    .option('--token-stdin', 'token for the forge, from standard input: contents and pull requests, read and write')
    .option('--ssh-key <file>', 'private key without a passphrase, for repositories reached by ssh', readSecretPath)
    .addOption(new Option('--ssh-key-stdin', 'the same, from standard input').conflicts(['sshKey', 'tokenStdin']))
    .option(
      '--ssh-known-hosts <file>',
      "host keys, as ssh-keyscan prints them; compare them with what the server's owner publishes first",
      readSecretPath,
    );
}

async function settingsOf({ readInput }: CommandContext, options: SettingOptions): Promise<ProjectChange> {
  const { sshKnownHosts, jobBudget, dailyBudget } = options;
  return {
    name: options.name,
    repository: options.repository,
    defaultRef: orNull(options.ref),
    ...modelFieldsOf(options),
    allowedRepositories: options.allow,
    forgeUrl: orNull(options.forgeUrl),
    reviewers: options.reviewer,
    labels: options.label,
    assignees: options.assignee,
    allowedPaths: options.path,
    mayChangeWorkflows: options.workflows,
    mayRun: options.run,
    plan: options.plan,
    ask: options.ask,
    selfReview: options.selfReview,
    checkCommand: orNull(options.check),
    environment: orNull(options.environment && (await textOf(options.environment))),
    fetchHosts: options.fetchHost,
    jobBudgetUsd: orNull(jobBudget),
    dailyBudgetUsd: orNull(dailyBudget),
    forgeToken: options.removeToken ? null : options.tokenStdin && (await readInput()).trim(),
    sshKey: await sshKeyOf(),
    sshKnownHosts: sshKnownHosts === undefined ? undefined : hostKeysIn(await textOf(sshKnownHosts)),
  };

  async function sshKeyOf(): Promise<string | null | undefined> {
    if (options.removeSshKey) return null;
    if (options.sshKeyStdin) return readInput();
    return options.sshKey === undefined ? undefined : textOf(options.sshKey);
  }
}

/** Returns the lines of ssh-keyscan output without its comments. */
function hostKeysIn(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}
