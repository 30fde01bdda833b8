import { setTimeout as sleep } from 'node:timers/promises';
import { Option, type Command } from 'commander';
import { CommandError } from '../command-error.ts';
import { answerOf, done, everyItem, type Api } from '../http/api.ts';
import { connect, type CommandContext } from './context.ts';
import { checkChange, collect, jsonIn, orNull, readDollars, readInteger, readSecretPath, textOf } from './options.ts';
import { printList, printRecord } from './output.ts';
import { addAnalyticsCommand } from './site-analytics.ts';
import { addEvaluationCommands } from './site-evaluation.ts';

interface SiteOptions {
  repository?: string;
  directory?: string;
  ref?: string;
  path?: string;
  sources?: string;
  baseUrl?: string;
  retentionDays?: number;
  refreshMinutes?: number;
  answerBudget?: number | '';
  instructions?: string;
  starterQuestion?: string[];
  queryRewriting?: string;
  unsupported?: 'mark' | 'cut';
  contact?: string;
  requestsPerMinute?: number;
  requestsPerDay?: number;
}

interface GuardOptions {
  indexGuard?: string;
  indexGuardMargin?: number;
}

interface ReaderOptions {
  readerIssuer?: string;
  readerKey?: string;
}

const pollMs = 500;
const maxWaitMs = 10 * 60_000;

/** Adds `docket site create|show|list|index|update|delete|analytics`. */
export function addSiteCommands(program: Command, context: CommandContext): void {
  const group = program.command('site').description('documentation sites: the pages that the assistant answers from');

  addSettings(group.command('create').description('create a site and index it in the background'))
    .requiredOption('--domain <name>', 'its identifier in API URLs')
    .action(async (options: SiteOptions & { domain: string }, command: Command) => {
      const { api } = await connect(context, command);
      const body = {
        domain: options.domain,
        ...settingsOf(options),
        sources: await jsonIn(options.sources),
      };
      printRecord(command, await answerOf(api.POST('/v1/sites', { body })));
    });

  onSite(group.command('show').description('show a site')).action(
    async (domain: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      printRecord(command, await getSite(api, domain));
    },
  );

  group
    .command('list')
    .description('list sites')
    .action(async (_options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      const sites = await everyItem(
        (query) => answerOf(api.GET('/v1/sites', { params: { query } })),
        (page) => page.sites,
      );
      printList(command, sites, {
        domain: (site) => site.domain,
        source: (site) => site.repository ?? site.directory,
        path: (site) => site.path,
        version: (site) => site.index.version,
        pages: (site) => site.index.pages,
        indexed: (site) => site.index.indexedAt,
        failure: (site) => site.index.failure?.message,
      });
    });

  onSite(group.command('index').description('re-index a site'))
    .option('--wait', 'wait until it has finished')
    .option('--force', 'use the new index even if it is worse than the guard of the site allows')
    .action(async (domain: string, { wait, force }: { wait?: true; force?: true }, command: Command) => {
      const { api } = await connect(context, command);
      const site = await answerOf(
        api.POST('/v1/sites/{domain}/index', { params: { path: { domain } }, body: force === true ? { force } : {} }),
      );
      printRecord(command, wait === true ? await indexed(api, domain) : site);
    });

  addSettings(onSite(group.command('update').description('change a site; a new source is re-indexed')))
    .option('--reader-issuer <name>', 'issuer of the tokens that prove the groups of readers ("" accepts none)')
    .option(
      '--reader-key <file>',
      'file with the key that verifies them: a public Ed25519 key in PEM, or a shared secret',
      readSecretPath,
    )
    .option('--index-guard <set>', 'id of a question set; a new index that is worse for it is not used ("" for none)')
    .option(
      '--index-guard-margin <percent>',
      'share of its questions by which it may be worse (default: 5)',
      readInteger,
    )
    .action(async (domain: string, options: SiteOptions & ReaderOptions & GuardOptions, command: Command) => {
      const body = {
        ...settingsOf(options),
        sources: await jsonIn(options.sources),
        readerTokens: await readerTokensOf(options),
        indexGuard: guardOf(options),
      };
      checkChange(body);
      const { api } = await connect(context, command);
      const call = api.PATCH('/v1/sites/{domain}', { params: { path: { domain } }, body });
      printRecord(command, await answerOf(call));
    });

  onSite(group.command('delete').description('delete a site with its index and its conversations, permanently'))
    .requiredOption('--yes', 'confirm the deletion')
    .action(async (domain: string, _options: unknown, command: Command) => {
      const { api } = await connect(context, command);
      await done(api.DELETE('/v1/sites/{domain}', { params: { path: { domain } } }));
      printRecord(command, { domain, deleted: true });
    });

  addAnalyticsCommand(group, context);
  addEvaluationCommands(group, context);
}

function onSite(command: Command): Command {
  return command.argument('<domain>', 'its identifier');
}

function addSettings(command: Command): Command {
  return command
    .option('--repository <url>', 'git repository of the pages')
    .option('--directory <path>', 'directory of the pages on the worker, below DOCKET_SITE_DIRECTORIES')
    .option('--path <folder>', 'folder of the pages below the repository or directory ("" for all of it)')
    .option('--sources <file>', 'JSON file with the sources beside it, as `sources` of the API')
    .option('--ref <branch>', 'branch of the repository ("" for the default branch)')
    .option('--base-url <url>', 'URL of the published site, for links in answers ("" for none)')
    .option('--retention-days <days>', 'how long conversations are kept; 0 stores none (default: 30)', readInteger)
    .option('--refresh-minutes <minutes>', 're-index every (minutes); 0 is never (default)', readInteger)
    .option('--answer-budget <dollars>', 'US dollars per day (UTC) for its answers, or "none"', readDollars)
    .option('--instructions <text>', 'tone and emphasis for the model that answers ("" for none)')
    .option('--starter-question <text>', 'question to begin with (repeatable; "" for none)', collect)
    .option('--query-rewriting <model>', 'model that rewrites follow-up questions for the search ("" for none)')
    .addOption(
      new Option('--unsupported <action>', 'statements of a model that the cited pages do not contain').choices([
        'mark',
        'cut',
      ]),
    )
    .option('--contact <url>', 'https or mailto URL for readers whose question has no answer ("" for none)')
    .option('--requests-per-minute <count>', 'limit for requests of readers; 0 for none', readInteger)
    .option('--requests-per-day <count>', 'limit for requests of readers; 0 for none', readInteger);
}

function settingsOf(options: SiteOptions) {
  const { repository, directory, path, retentionDays, refreshMinutes } = options;
  return {
    repository,
    directory,
    path,
    ref: orNull(options.ref),
    baseUrl: orNull(options.baseUrl),
    retentionDays,
    refreshMinutes: refreshMinutes === 0 ? null : refreshMinutes,
    answerBudgetUsd: orNull(options.answerBudget),
    instructions: orNull(options.instructions),
    starterQuestions: options.starterQuestion,
    queryRewriting: orNull(options.queryRewriting),
    unsupported: options.unsupported,
    contact: orNull(options.contact),
    requestsPerMinute: options.requestsPerMinute === 0 ? null : options.requestsPerMinute,
    requestsPerDay: options.requestsPerDay === 0 ? null : options.requestsPerDay,
  };
}

function guardOf({ indexGuard: questionSetId, indexGuardMargin = 5 }: GuardOptions) {
  if (questionSetId === undefined) return undefined;
  if (questionSetId === '') return null;
  return { questionSetId, margin: indexGuardMargin / 100 };
}

async function readerTokensOf({ readerIssuer: issuer, readerKey: file }: ReaderOptions) {
  if (issuer === '') return null;
  if (issuer === undefined && file === undefined) return undefined;
  if (issuer === undefined || file === undefined)
    throw new CommandError('Use --reader-issuer and --reader-key together.', { exitCode: 2 });
  const key = await textOf(file);
  return key.includes('-----BEGIN')
    ? { algorithm: 'EdDSA' as const, issuer, publicKey: key }
    : { algorithm: 'HS256' as const, issuer, secret: key.trim() };
}

type Site = Awaited<ReturnType<typeof getSite>>;

function getSite(api: Api, domain: string) {
  return answerOf(api.GET('/v1/sites/{domain}', { params: { path: { domain } } }));
}

/** Waits until no index request is open. The site's state then reflects the outcome of the request. */
async function indexed(api: Api, domain: string): Promise<Site> {
  const deadline = Date.now() + maxWaitMs;
  for (;;) {
    const site = await getSite(api, domain);
    const { requestedAt, failure } = site.index;
    if (requestedAt === null) {
      if (failure === null) return site;
      throw new CommandError(`The site could not be indexed. ${failure.message}`);
    }
    if (Date.now() > deadline)
      throw new CommandError('The site was not indexed within ten minutes. Check that a worker is running.');
    await sleep(pollMs);
  }
}
