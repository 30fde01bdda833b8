import Koa from 'koa';
import { checkDatabase } from '../db/check-database.ts';
import { presentJob } from '../db/jobs/agent-job.ts';
import { createPolledJobs } from '../db/jobs/polled-jobs.ts';
import { createPriceBook } from '../models/prices.ts';
import { createThreadQueue } from '../lib/threads/thread-queue.ts';
import type { AppRouter, AppState } from './http/app-context.ts';
import { createJobCreation } from './jobs/create-job.ts';
import { routes } from './openapi/routes.ts';
import { createDashboardFiles } from './http/files/dashboard-files.ts';
import { createRequestAccess } from './access/request-access.ts';
import { createOpenedPages } from './analytics/opened-pages.ts';
import { createJobReader } from './jobs/job-reader.ts';
import { createKeyUses } from './access/key-uses.ts';
import { createKeyVerifier } from './access/key-verifier.ts';
import type { AppContext } from './http/app-context.ts';
import { createMetrics } from './http/metrics.ts';
import { createLoopBlockWatch } from '../lib/threads/loop-block-watch.ts';
import { routeOf } from './http/route-of.ts';
import { createCors } from './http/cors.ts';
import { createDashboard } from './http/files/dashboard.ts';
import { createErrorHandler } from './http/error-handler.ts';
import { createJobPoll } from './http/job-poll.ts';
import { createNoRoute } from './http/no-route.ts';
import { createRequestGuard } from './http/request-guard.ts';
import { createRequestSpan } from './http/request-span.ts';
import { createRequestMetrics } from './http/request-metrics.ts';
import { createRequestWatch } from './http/request-watch.ts';
import { createRequestId } from './http/request-id.ts';
import { createRequestHolders } from './access/request-holders.ts';
import { refusalOfStore } from './http/store-refusals.ts';
import { createOpenAnswers } from './http/streams/open-answers.ts';
import { createOpenApi } from './openapi/openapi.ts';
import { createJobEventsRouter } from './jobs/routes-job-events.ts';
import { createJobActionsRouter } from './jobs/routes-job-actions.ts';
import { createJobForksRouter } from './jobs/routes-job-forks.ts';
import { createJobPlansRouter } from './jobs/routes-job-plans.ts';
import { createJobListsRouter } from './jobs/routes-job-lists.ts';
import { createJobExportRouter } from './jobs/routes-job-exports.ts';
import { createJobTimelineRouter } from './jobs/routes-job-timeline.ts';
import { createJobsRouter } from './jobs/routes-jobs.ts';
import { createOperationsRouter } from './administration/routes-operations.ts';
import { createPullRequestListsRouter } from './pull-requests/routes-lists.ts';
import { createPullRequestsRouter } from './pull-requests/routes.ts';
import { createSessionRouter } from './administration/routes-session.ts';
import { createPagesRouter } from './openapi/pages.ts';
import { createSystemRouter } from './administration/routes-system.ts';
import { createWebhooksRouter } from './webhooks/routes.ts';
import { createAdministrationRouters, createAssistantRouters } from './sites/site-routers.ts';
import type { AppDeps } from './app-deps.ts';
import { modelMenu } from '../models/model-menu.ts';

/** Creates the application with its middleware in order. It does not listen. */
export function createApp(deps: AppDeps) {
  const { config, pool, stores, service, log } = deps;
  const { jobs } = stores;
  const verifier = createKeyVerifier({ ...service.access, pepper: config.keyPepper });
  const holders = deps.holders ?? createRequestHolders();
  const openAnswers = createOpenAnswers(service);
  const keyUses = createKeyUses(stores);
  const openedPages = createOpenedPages(service.siteRollups);
  const requestAccess = createRequestAccess({ ...deps, verifier, holders, openAnswers, keyUses });
  const readJob = createJobReader({ jobs });
  const polledJobs = createPolledJobs({ pool, find: jobs.find, wakeups: deps.jobEvents.wakeups });
  const openApi = () => createOpenApi({ baseUrl: config.http.baseUrl, routes });

  const { seesImages } = createPriceBook(config.prices);
  const creation = createJobCreation({
    jobs,
    grants: stores.grants,
    problemWithModel: (name) => deps.models.problemWith(name),
    seesImages,
    defaultModel: config.models.agent,
    repositories: config.repositories,
  });

  const threadQueue = createThreadQueue({ atOnce: 2, waiting: 20, deadlineMs: 30_000, heapMb: 512 });
  const metrics = createMetrics({ figures: stores.figures });
  const routers: AppRouter[] = [
    createSystemRouter({
      ...requestAccess,
      checkDatabase: () => checkDatabase(pool),
      isDraining: deps.isDraining,
      openApi,
    }),
    createPagesRouter(),
    createSessionRouter({
      ...requestAccess,
      ...stores,
      signedIn: service.signedIn,
      defaults: { agentModel: config.models.agent, assistantModel: config.models.assistant },
      models: modelMenu(config.prices, deps.models),
      temporalUiUrl: config.temporalUiUrl,
      temporalNamespace: config.temporal.namespace,
    }),
    createOperationsRouter({
      ...requestAccess,
      ...stores,
      metrics,
      limits: { assistantPerHour: config.rateLimits.assistantPerHour, dayMicros: config.budgets.dayMicros },
    }),
    createPullRequestsRouter({ ...requestAccess, ...stores }),
    createJobsRouter({
      ...requestAccess,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      projects: stores.projects,
      jobs,
      erasure: stores.erasure,
      creation,
      readJob,
      onCreated: deps.onJobCreated,
      onCancelled: deps.onJobCancelled,
    }),
    createJobListsRouter({
      ...requestAccess,
      ...deps.jobEvents,
      lists: stores.lists,
      jobCounts: stores.jobCounts,
      log,
    }),
    createJobTimelineRouter({ ...requestAccess, ...stores, readJob }),
    createPullRequestListsRouter({ ...requestAccess, ...stores, readJob }),
    createJobEventsRouter({ ...requestAccess, ...deps.jobEvents, readJob, events: stores.events, log }),
    createJobActionsRouter({
      ...requestAccess,
      messagePolicy: { name: 'message', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      messages: stores.messages,
      seesImages,
      endings: stores.endings,
      readJob,
      onBegun: deps.onJobCreated,
      onCancelled: deps.onJobCancelled,
    }),
    createJobPlansRouter({ ...requestAccess, plans: stores.plans, readJob, onBegun: deps.onJobCreated }),
    createJobForksRouter({
      ...requestAccess,
      ...stores,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      problemWithModel: (name) => deps.models.problemWith(name),
      readJob,
      onCreated: deps.onJobCreated,
    }),
    createJobExportRouter({ ...requestAccess, ...stores, readJob, threadQueue, log }),
    createWebhooksRouter({ ...requestAccess, ...stores, allowedHosts: config.webhookAllowedHosts }),
    ...createAdministrationRouters({ ...deps, threadQueue, openedPages }, requestAccess, creation),
    ...createAssistantRouters({ ...deps, threadQueue, openedPages }, requestAccess),
  ];

  for (const counter of deps.assistant.counters) metrics.registry.registerMetric(counter);
  const loopBlocks = createLoopBlockWatch<AppContext>({
    log,
    registers: [metrics.registry],
    prefix: 'docket_api',
    nameOf: routeOf,
  });
  const koa = new Koa<AppState>();
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // a client disconnect is not an error of the service
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? ''))
      log.error({ err: error }, 'response failed');
  });
  koa.use(createRequestWatch([openAnswers.track, loopBlocks.start, createRequestMetrics({ metrics })]));
  koa.use(createRequestSpan());
  koa.use(createRequestId());
  koa.use((_ctx, next) => holders.run(next));
  koa.use(createCors());
  koa.use(createErrorHandler({ log, refusalOfStore }));
  koa.use(createRequestGuard());
  const readPolled = createJobReader({ jobs: polledJobs });
  koa.use(createJobPoll({ authenticate: requestAccess.authenticate, readJob: readPolled, presentJob }));
  const files = createDashboardFiles({ directory: deps.dashboardDirectory });
  koa.use(createDashboard({ files }));
  for (const router of routers) koa.use(router.routes());
  koa.use(createNoRoute({ files }));
  return { koa, loopBlocks, verifier, keyUses, openedPages, openAnswers, polledJobs };
}
