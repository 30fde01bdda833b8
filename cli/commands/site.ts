import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { operatorOf, type Owner } from '../../db/caller.ts';
import { everyRow } from '../../db/page.ts';
import { createSiteStore, DomainTakenError } from '../../db/sites/sites.ts';
import type { SiteRow, SiteStore } from '../../db/sites/sites.ts';
import {
  branchSchema,
  directorySchema,
  domainSchema,
  folderSchema,
  refreshMinutes,
  retentionDays,
  siteUrlSchema,
} from '../../lib/inputs/administration.ts';
import { integerBetween, organizationOf, ownersOf, readBy, siteRepositoryOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { WithContext } from './context.ts';
import { checkSource } from './grant.ts';
import { printList, printRecord } from './output.ts';
import { addSiteChangeCommands, type SiteOptions } from './site-change.ts';
import { addSiteOwnerOption, siteOf } from './site-checks.ts';
import { repositoryUrl } from '../../lib/inputs/repository.ts';

interface CreateOptions extends SiteOptions {
  org: string;
  domain: string;
}

const daysOption = integerBetween(retentionDays.minimum, retentionDays.maximum);
const minutesOption = integerBetween(refreshMinutes.minimum, refreshMinutes.maximum);
const pollMs = 250;
const longestWaitMs = 10 * 60_000;

/** `docket site create|list|index|update|delete` */
export function addSiteCommands(program: Command, withContext: WithContext): void {
  const group = program.command('site').description('documentation sites: the pages that the assistant answers from');

  group
    .command('create')
    .description('create a site and index it in the background')
    .requiredOption('--org <id>', 'the organization it belongs to')
    .requiredOption('--domain <name>', 'its identifier in the address of the API', readBy(domainSchema))
    .option('--repository <url>', 'git repository of the pages')
    .option(
      '--directory <path>',
      'directory of the pages on the worker, below DOCKET_SITE_DIRECTORIES',
      readBy(directorySchema),
    )
    .option(
      '--path <folder>',
      'folder of the pages below the repository or directory (default: all of it)',
      readBy(folderSchema),
    )
    .option('--ref <branch>', 'branch of the repository (default: the default branch)', readBy(branchSchema))
    .option('--base-url <url>', 'address of the published site; links in answers begin with it', readBy(siteUrlSchema))
    .option('--retention-days <days>', 'how long conversations are kept; 0 stores none', daysOption, 30)
    .option('--refresh-minutes <minutes>', 're-index every (minutes)', minutesOption)
    .action((options: CreateOptions, command: Command) =>
      withContext(async (context) => {
        const organization = await organizationOf(context, options.org);
        checkOptions(options);
        const { org: _org, ...site } = options;
        const sites = createSiteStore(context.pool);
        const repository =
          options.repository === undefined ? undefined : siteRepositoryOf(context, options.repository).repository;
        await checkSource(context, organization.id, { ...site, repository });
        try {
          const operator = operatorOf({ organizationId: organization.id });
          const created = await sites.create(operator, { ...site, repository });
          printRecord(command, { ...created });
        } catch (error) {
          throw error instanceof DomainTakenError ? new CommandError(error.message, { cause: error }) : error;
        }
      }),
    );

  group
    .command('list')
    .description('list sites')
    .option('--org <id>', 'only this organization')
    .action((options: { org?: string }, command: Command) =>
      withContext(async (context) => {
        const owners = await ownersOf(context, options.org);
        const sites = await Promise.all(
          owners.map((owner) => everyRow((query) => createSiteStore(context.pool).list(owner, query))),
        );
        printList(command, sites.flat(), {
          domain: (row) => row.domain,
          organization: (row) => row.organizationId,
          source: (row) => (row.repository === null ? row.directory : repositoryUrl(row.repository)),
          path: (row) => row.path,
          version: (row) => row.indexVersion,
          pages: (row) => row.indexPages,
          indexed: (row) => row.indexedAt,
          failure: (row) => row.indexFailureMessage,
        });
      }),
    );

  addSiteOwnerOption(group.command('index').description('re-index a site').argument('<domain>', 'its identifier'))
    .option('--wait', 'wait until it has finished')
    .action((domain: string, options: { org?: string; wait?: boolean }, command: Command) =>
      withContext(async (context) => {
        const { sites, operator, site } = await siteOf(context, domain, options.org);
        await sites.requestIndex(operator, site.id);
        printRecord(command, { ...(options.wait === true ? await indexed(sites, site) : site) });
      }),
    );

  addSiteChangeCommands(group, withContext);
}

/** Waits until no request stands: what the site then says is the answer to it. */
async function indexed(sites: SiteStore, { organizationId, domain }: Owner & { domain: string }): Promise<SiteRow> {
  const deadline = Date.now() + longestWaitMs;
  for (;;) {
    const site = await sites.findByDomain({ organizationId }, domain);
    if (site === null) throw new CommandError('The site was removed meanwhile.');
    if (site.indexRequestedAt === null) {
      if (site.indexFailureMessage === null) return site;
      throw new CommandError(`The site could not be indexed. ${site.indexFailureMessage}`);
    }
    if (Date.now() > deadline)
      throw new CommandError('The site was not indexed within ten minutes; is a worker running?');
    await sleep(pollMs);
  }
}

function checkOptions({ repository, directory }: CreateOptions): void {
  if ((repository === undefined) === (directory === undefined)) {
    throw new CommandError('Name either --repository or --directory, where the pages come from.');
  }
}
