import { Option, type Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { answerOf, bodyOf, done, type Api } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { addJobBundleCommands } from './job-bundle.ts';
import { getJob, waitsFor, watchJob, type AgentJob, type JobRef } from './job-watch.ts';
import { onJob } from './on-job.ts';
import { addModelOptions, collect, modelFieldsOf, readInteger, type ModelOptions } from './options.ts';
import { imageOption, imagesOf } from './prompt-images.ts';
import { isJson, plain, print, printList, printRecord, shortened } from './output.ts';
import { projectIdOf } from './project-of.ts';

interface StepOptions {
  turn?: number;
  step?: number;
}

const statuses = ['active', 'completed', 'failed', 'archived'] as const;
const turnOption = ['--turn <number>', 'default: the newest turn', readInteger] as const;
const watchOption = ['--watch', 'follow the job to its end; the exit code reflects the outcome'] as const;

/** Adds `docket job …`. */
export function addJobCommands(program: Command, context: CommandContext): void {
  const group = program.command('job').description('agent jobs');
  addCreate(group, context);
  addList(group, context);
  addReaders(group, context);
  addActions(group, context);
  addJobBundleCommands(group, context);
}

interface CreateOptions extends ModelOptions {
  project?: string;
  repository?: string;
  ref?: string;
  image?: string[];
  draft?: true;
  plan?: 'review' | 'none';
  ask?: boolean;
  idempotencyKey?: string;
  watch?: true;
}

function addCreate(group: Command, context: CommandContext): void {
  addModelOptions(group.command('create').description('create a job'), 'model (default: the one of the project)')
    .argument('<prompt>', 'what the agent is asked to do; "-" reads it from standard input')
    .option('--project <id>', 'the project (default: DOCKET_PROJECT, or the only project)')
    .option('--repository <url>', 'another repository that the project allows')
    .option('--ref <ref>', 'branch, tag or commit to start from')
    .option(...imageOption)
    .option('--draft', 'open the pull request as a draft')
    .addOption(
      new Option('--plan <plan>', "whether you approve a plan first (default: the project's setting)").choices([
        'review',
        'none',
      ] as const),
    )
    .option('--ask', 'let the agent ask you questions and wait for the answers')
    .option('--no-ask', "do not let it (default: the project's setting)")
    .option('--idempotency-key <key>', 'a second command with the same key returns the job of the first')
    .option(...watchOption)
    .action(async (prompt: string, options: CreateOptions, command: Command) => {
      const { api } = await connect(context, command);
      const { repository, ref, image, draft, plan, ask, idempotencyKey } = options;
      const { models, ...settings } = modelFieldsOf(options);
      const projectId = await projectIdOf(api, options.project ?? context.env['DOCKET_PROJECT']);
      const job = await answerOf(
        api.POST('/v2/agent/{projectId}/job', {
          params: { path: { projectId }, header: { 'Idempotency-Key': idempotencyKey } },
          body: {
            ...settings,
            prompt: await promptOf(context, prompt),
            images: await imagesOf(image),
            source: { repository, ref },
            models: models ?? undefined,
            draft,
            plan,
            ask,
          },
        }),
      );
      if (options.watch !== true) return printJob(command, job);
      if (!isJson(command)) print(job.id);
      return watchJob(api, { projectId, id: job.id }, { json: isJson(command) });
    });
}

interface ListOptions {
  project?: string;
  status?: (typeof statuses)[number];
  search?: string;
  limit: number;
}

function addList(group: Command, context: CommandContext): void {
  group
    .command('list')
    .description('list jobs, newest first')
    .option('--project <id>', 'only this project')
    .addOption(new Option('--status <status>', 'only this status').choices(statuses))
    .option('--search <text>', 'only jobs with this in their title, prompt, repository or branch')
    .option('--limit <number>', 'how many', readInteger, 20)
    .action(async ({ project, status, search: q, limit }: ListOptions, command: Command) => {
      const { api } = await connect(context, command);
      const query = { project, status: status && [status], q, limit };
      const { jobs } = await answerOf(api.GET('/v1/jobs', { params: { query } }));
      printList(command, jobs, {
        id: (job) => job.id,
        status: (job) => job.details.phase ?? job.status,
        project: (job) => job.projectId,
        created: (job) => job.createdAt,
        title: (job) => shortened(job.details.title ?? job.prompt, 60),
        'pull request': (job) => job.prLink,
      });
    });
}

function addReaders(group: Command, context: CommandContext): void {
  onJob(group.command('show').description('show a job'), context, async ({ api, ref, command }) =>
    printJob(command, await getJob(api, ref)),
  );

  onJob<{ after?: number }>(
    group
      .command('watch')
      .description('follow a job to its end; the exit code reflects the outcome')
      .option('--after <number>', 'only events after this one', readInteger),
    context,
    ({ api, ref, command }, { after }) => watchJob(api, ref, { json: isJson(command), after }),
  );

  onJob<StepOptions>(
    group
      .command('diff')
      .description('print the change of a job, or of one step of it, as a patch for "git apply"')
      .option(...turnOption)
      .option('--step <number>', 'only what this step changed', readInteger),
    context,
    async ({ api, ref }, { turn, step }) => {
      const path = step === undefined || turn === undefined ? null : { ...ref, turn, step };
      if ((turn === undefined) !== (step === undefined))
        throw new CommandError('Use --turn and --step together.', { exitCode: 2 });
      const patch =
        path === null
          ? await bodyOf(api.GET('/v2/agent/{projectId}/job/{id}/diff', { params: { path: ref }, parseAs: 'text' }))
          : await bodyOf(
              api.GET('/v2/agent/{projectId}/job/{id}/steps/{turn}/{step}/diff', {
                params: { path },
                parseAs: 'text',
              }),
            );
      // a program gets the bytes unchanged; a terminal would interpret escape sequences among them
      process.stdout.write(process.stdout.isTTY ? plain(patch) : patch);
    },
  );
}

function addActions(group: Command, context: CommandContext): void {
  onJob<{ watch?: true; turn?: number; mergeBase?: true; image?: string[]; idempotencyKey?: string }>(
    group
      .command('message')
      .description('send a follow-up message; a job that has ended continues on the same branch and pull request')
      .option('--turn <number>', 'refuse if the job no longer waits for an answer to this turn', readInteger)
      .option('--merge-base', 'first merge the base branch, for a pull request with conflicts or behind its base')
      .option(...imageOption)
      .option('--idempotency-key <key>', 'a second command with the same key sends nothing')
      .option(...watchOption),
    context,
    async ({ api, ref, command }, { watch, turn, mergeBase, image, idempotencyKey }, prompt = '') => {
      const after = watch === true ? await lastEvent(api, ref) : 0;
      const job = await answerOf(
        api.POST('/v2/agent/{projectId}/job/{id}/message', {
          params: { path: ref, header: { 'Idempotency-Key': idempotencyKey } },
          body: { prompt: await promptOf(context, prompt), images: await imagesOf(image), mergeBase, turn },
        }),
      );
      if (watch !== true) return printJob(command, job);
      return watchJob(api, ref, { json: isJson(command), after });
    },
    '<prompt>',
  );

  onJob<{ turn?: number; comment?: string }>(
    group
      .command('approve')
      .description('approve the plan of a job, which the agent then carries out')
      .option('--turn <number>', 'refuse if there is a newer plan than that of this turn', readInteger)
      .option('--comment <text>', 'a comment for the agent'),
    context,
    ({ api, ref, command }, body) =>
      printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/approve', { params: { path: ref }, body })),
  );

  onJob<{ turn?: number; reason?: string }>(
    group
      .command('reject')
      .description('reject the plan of a job, which ends the job')
      .option('--turn <number>', 'refuse if there is a newer plan than that of this turn', readInteger)
      .option('--reason <text>', "becomes a part of the job's message"),
    context,
    ({ api, ref, command }, body) =>
      printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/reject', { params: { path: ref }, body })),
  );

  onJob(group.command('cancel').description('cancel a running job'), context, ({ api, ref, command }) =>
    printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/cancel', { params: { path: ref } })),
  );

  onJob(
    group.command('archive').description('archive a job that has ended; it accepts no messages until it is unarchived'),
    context,
    ({ api, ref, command }) =>
      printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/archive', { params: { path: ref } })),
  );

  onJob(group.command('unarchive').description('unarchive a job'), context, ({ api, ref, command }) =>
    printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/unarchive', { params: { path: ref } })),
  );

  onJob(
    group
      .command('delete')
      .description('delete a job and everything stored for it, permanently')
      .requiredOption('--yes', 'confirm the deletion'),
    context,
    async ({ api, ref, command }) => {
      await done(api.DELETE('/v2/agent/{projectId}/job/{id}', { params: { path: ref } }));
      printRecord(command, { id: ref.id, deleted: true });
    },
  );

  onJob<StepOptions & { step: number; model?: string[]; prompt?: string }>(
    group
      .command('fork')
      .description('create a job that continues after a step of another job, on its own branch')
      .requiredOption('--step <number>', 'the last step that the new job continues from', readInteger)
      .option(...turnOption)
      .option('--model <provider/model>', "default: the other job's models; may be repeated", collect)
      .option('--prompt <text>', 'a message that the first new step reads'),
    context,
    ({ api, ref, command }, { model: models, ...options }) => {
      const body = { ...options, models };
      return printAnswer(command, api.POST('/v2/agent/{projectId}/job/{id}/fork', { params: { path: ref }, body }));
    },
  );
}

async function lastEvent(api: Api, path: JobRef): Promise<number> {
  let after = 0;
  for (;;) {
    const query = { after, limit: 500 };
    const page = await answerOf(api.GET('/v2/agent/{projectId}/job/{id}/events', { params: { path, query } }));
    if (typeof page === 'string' || page.events.length === 0) return after;
    after = page.nextAfter;
  }
}

async function promptOf({ readInput }: CommandContext, text: string): Promise<string> {
  return text === '-' ? readInput() : text;
}

async function printAnswer(command: Command, call: Parameters<typeof answerOf<AgentJob>>[0]): Promise<void> {
  printJob(command, await answerOf(call));
}

function printJob(command: Command, job: AgentJob): void {
  if (isJson(command)) return printRecord(command, job);
  const { title, phase, message, plan, waiting, incomplete, steps, usage, failure, forkedFrom } = job.details;
  const { models, reasoningEffort, maxOutputTokens } = job.details;
  printRecord(command, {
    id: job.id,
    status: phase === null ? job.status : `${job.status} (${phase})`,
    title,
    repository: job.source.repository,
    ref: job.source.ref,
    model: models.join(', then '),
    effort: reasoningEffort,
    'output limit': maxOutputTokens,
    'pull request': job.prLink,
    created: job.createdAt,
    archived: job.archivedAt,
    steps,
    'input tokens': usage.inputTokens,
    'read from cache': usage.cachedInputTokens,
    'written to cache': usage.cacheWriteTokens,
    'uncached input': usage.freshInputTokens,
    'output tokens': usage.outputTokens,
    cost: usage.costUsd === null ? null : `$${usage.costUsd.toFixed(4)}`,
    'forked from': forkedFrom === null ? null : `${forkedFrom.jobId}, turn ${forkedFrom.turn}, step ${forkedFrom.step}`,
    failure: failure === null ? null : `${failure.title}. ${failure.remedy}`,
    incomplete,
    'waits for': phase !== 'waiting' || waiting === null ? null : `${waitsFor(waiting)} until ${waiting.until}`,
    'started by': waiting?.startedBy?.name ?? null,
  });
  if (waiting?.for === 'approval' && plan !== null) print(`\n${plan}`);
  if (message !== null) print(`\n${message}`);
}
