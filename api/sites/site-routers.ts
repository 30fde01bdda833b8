import type { AppDeps } from '../app-deps.ts';
import type { AppRouter } from '../http/app-context.ts';
import type { JobCreation } from '../jobs/create-job.ts';
import { createGaps } from './gaps.ts';
import type { Gate } from '../access/gate.ts';
import { createAssistantRouter } from '../assistant/routes.ts';
import { createFeedbackRouter } from './routes-feedback.ts';
import { createGapsRouter } from './routes-gaps.ts';
import { createKeysRouter } from '../administration/routes-keys.ts';
import { createProjectsRouter } from '../administration/routes-projects.ts';
import { createSearchRouter } from './routes-search.ts';
import { createSitesRouter } from './routes-sites.ts';
import { createThreadsRouter } from './routes-threads.ts';
import type { ThreadQueue } from '../../lib/threads/thread-queue.ts';
import type { KeyUses } from '../access/key-uses.ts';
import { createSiteAccess, type SiteAccess } from './site-access.ts';

type SiteRouterDeps = AppDeps & { keyUses: KeyUses; threadQueue: ThreadQueue };

/** What an organization administers. */
export function createAdministrationRouters(deps: SiteRouterDeps, gate: Gate, creation: JobCreation): AppRouter[] {
  const { config, stores } = deps;
  const access = createAccess(deps, gate);
  const shared = { ...gate, ...stores, repositories: config.repositories };
  return [
    createProjectsRouter({
      ...shared,
      budgets: config.budgets,
      problemWithModel: (name) => deps.models.problemWith(name),
    }),
    createSitesRouter({ ...shared, access }),
    createGapsRouter({
      ...shared,
      access,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      gapReader: createGaps({ ...stores, threadQueue: deps.threadQueue }),
      creation,
      onCreated: deps.onJobCreated,
    }),
    createKeysRouter(shared),
  ];
}

function createAccess({ config, stores, keyUses }: SiteRouterDeps, gate: Gate): SiteAccess {
  const { assistantPerHour, assistantPerIpPerDay } = config.rateLimits;
  return createSiteAccess({
    ...gate,
    keyUses,
    sites: stores.sites,
    limits: { perOrganizationAndHour: assistantPerHour, perAddressAndDay: assistantPerIpPerDay },
  });
}

/** What readers and their pages ask. */
export function createAssistantRouters(deps: SiteRouterDeps, gate: Gate): AppRouter[] {
  const { assistant: parts, stores, log } = deps;
  const access = createAccess(deps, gate);
  return [
    createAssistantRouter({ ...gate, ...parts, access, logger: log }),
    createSearchRouter({
      access,
      indexes: parts.indexes,
      searchPassages: parts.searchPassages,
      onEmpty: (site, query) =>
        void stores.emptySearches
          .count(site, query)
          .catch((error: unknown) =>
            log.warn({ err: error, site: site.id }, 'a search that found nothing was not counted'),
          ),
    }),
    createFeedbackRouter({ ...stores, access }),
    createThreadsRouter({ access, threads: parts.threads }),
  ];
}
