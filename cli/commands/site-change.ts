import type { Command } from 'commander';
import type { SiteChange } from '../../db/sites/sites.ts';
import {
  branchSchema,
  directorySchema,
  folderSchema,
  refreshMinutes as minutesRule,
  retentionDays as daysRule,
  siteUrlSchema,
} from '../../lib/inputs/administration.ts';
import { integerBetween, readBy, readOrNone, siteRepositoryOf } from './checks.ts';
import { CommandError } from './context.ts';
import type { CommandContext, WithContext } from './context.ts';
import { checkSource } from './grant.ts';
import { printRecord } from './output.ts';
import { addSiteOwnerOption, siteOf } from './site-checks.ts';

/** Where a site's pages are and how it is kept. */
export interface SiteOptions {
  repository?: string;
  directory?: string;
  ref?: string;
  path?: string;
  baseUrl?: string;
  retentionDays?: number;
  refreshMinutes?: number;
}

/** `docket site update|delete` */
export function addSiteChangeCommands(group: Command, withContext: WithContext): void {
  addSiteOwnerOption(
    group
      .command('update')
      .description('change a site; a new source is re-indexed')
      .argument('<domain>', 'its identifier'),
  )
    .option('--repository <url>', 'git repository of the pages, replaces the current source')
    .option(
      '--directory <path>',
      'directory of the pages on the worker, instead of what they came from',
      readBy(directorySchema),
    )
    .option('--path <folder>', 'folder of the pages; "" is all of it', readBy(folderSchema))
    .option('--ref <branch>', 'branch of the repository; "" is the default branch', readOrNone(branchSchema))
    .option('--base-url <url>', 'address of the published site; "" is none', readOrNone(siteUrlSchema))
    .option(
      '--retention-days <days>',
      'how long conversations are kept; 0 stores none',
      integerBetween(daysRule.minimum, daysRule.maximum),
    )
    .option(
      '--refresh-minutes <minutes>',
      're-index every (minutes); 0 is never',
      integerBetween(0, minutesRule.maximum),
    )
    .action((domain: string, { org, ...options }: SiteOptions & { org?: string }, command: Command) =>
      withContext(async (context) => {
        const { sites, operator, site } = await siteOf(context, domain, org);
        const change = changeOf(options, context);
        await checkSource(context, site.organizationId, change);
        const updated = await sites.update(operator, site.id, change);
        if (updated === null) throw new CommandError('The site was removed meanwhile.');
        printRecord(command, { ...updated });
      }),
    );

  addSiteOwnerOption(
    group
      .command('delete')
      .description('delete a site with its index and its conversations')
      .argument('<domain>', 'its identifier'),
  )
    .option('--yes', 'confirm the deletion')
    .action((domain: string, options: { org?: string; yes?: boolean }, command: Command) =>
      withContext(async (context) => {
        const { sites, operator, site } = await siteOf(context, domain, options.org);
        const { id, indexPages } = site;
        if (options.yes !== true) {
          throw new CommandError(
            `This removes the site ${domain}, the index of its ${indexPages} pages and all its conversations for good; say --yes to do it.`,
          );
        }
        printRecord(command, { id, domain, deleted: await sites.remove(operator, id) });
      }),
    );
}

function changeOf(options: SiteOptions, context: CommandContext): SiteChange {
  const { repository, directory, ref, path, baseUrl, retentionDays, refreshMinutes } = options;
  if (repository !== undefined && directory !== undefined)
    throw new CommandError('Name either --repository or --directory, where the pages come from.');
  const change = {
    ...(repository !== undefined && { repository: siteRepositoryOf(context, repository).repository, directory: null }),
    ...(directory !== undefined && { directory, repository: null }),
    ...(ref !== undefined && { ref: ref || null }),
    ...(path !== undefined && { path }),
    ...(baseUrl !== undefined && { baseUrl: baseUrl || null }),
    ...(retentionDays !== undefined && { retentionDays }),
    ...(refreshMinutes !== undefined && { refreshMinutes: refreshMinutes || null }),
  };
  if (Object.keys(change).length === 0) throw new CommandError('Name what to change; "--help" lists what can be.');
  return change;
}
