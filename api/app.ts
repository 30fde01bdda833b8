import Koa from 'koa';
import type { IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { JobEventWakeups } from '../db/job-event-wakeups.ts';
import { isStoreDown } from '../db/store-down.ts';
import type { Pool } from 'pg';
import type { ModelRegistry } from '../models/registry.ts';
import { presentJob } from '../workflows/contract/agent-job.ts';
import type { AppRouter, AppState } from './app-context.ts';
import type { AssistantParts } from './assistant-parts.ts';
import { createAddressReader } from './client-address.ts';
import type { ApiConfig } from './config.ts';
import { createAuditTrail } from './audit-trail.ts';
import { createJobCreation, type JobCreation } from './create-job.ts';
import { describeAdministration } from './describe-administration.ts';
import { describeAssistant } from './describe-assistant.ts';
import { describeGaps } from './describe-gaps.ts';
import { describeJobActions } from './describe-job-actions.ts';
import { describeJobLists } from './describe-job-lists.ts';
import { describeJobRecords } from './describe-job-records.ts';
import { describeJobs } from './describe-jobs.ts';
import { describeSystem } from './describe-system.ts';
import { describeWebhooks } from './describe-webhooks.ts';
import { createDashboardFiles } from './dashboard-files.ts';
import { describeSession } from './describe-session.ts';
import { createFailedAttempts } from './failed-attempts.ts';
import { createJobReader } from './job-reader.ts';
import { createKeyVerifier } from './key-verifier.ts';
import type { KeyVerifier } from './key-verifier.ts';
import { createAuthentication } from './middleware/authentication.ts';
import type { Authenticate } from './middleware/authentication.ts';
import { createCors } from './middleware/cors.ts';
import { createDashboard } from './middleware/dashboard.ts';
import { createErrorHandler } from './middleware/error-handler.ts';
import { createJobPoll } from './middleware/job-poll.ts';
import { createNoRoute } from './middleware/no-route.ts';
import { createRateLimit } from './middleware/rate-limit.ts';
import type { EnforceRateLimit } from './middleware/rate-limit.ts';
import { createRequestGuard } from './middleware/request-guard.ts';
import { createRequestId } from './middleware/request-id.ts';
import { createOpenApi } from './openapi.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { createAssistantRouter } from './routes/assistant.ts';
import { createGaps } from './gaps.ts';
import { createFeedbackRouter } from './routes/feedback.ts';
import { createGapsRouter } from './routes/gaps.ts';
import { createJobEventsRouter } from './routes/job-events.ts';
import { createJobActionsRouter } from './routes/job-actions.ts';
import { createJobForksRouter } from './routes/job-forks.ts';
import { createJobListsRouter } from './routes/job-lists.ts';
import { createJobRecordsRouter } from './routes/job-records.ts';
import { createJobsRouter } from './routes/jobs.ts';
import { createKeysRouter } from './routes/keys.ts';
import { createProjectsRouter } from './routes/projects.ts';
import { createSitesRouter } from './routes/sites.ts';
import { createPullRequestsRouter } from './routes/pull-requests.ts';
import { createSearchRouter } from './routes/search.ts';
import { createSessionRouter } from './routes/session.ts';
import { createSystemRouter } from './routes/system.ts';
import { createThreadsRouter } from './routes/threads.ts';
import { createWebhooksRouter } from './routes/webhooks.ts';
import { createSessionCookie, type SessionCookie } from './session-cookie.ts';
import { createSiteAccess, type SiteAccess } from './site-access.ts';
import type { ApiStores } from './stores.ts';
import { createVerifyKey, type VerifyKey } from './verify-key.ts';

export interface AppDeps {
  config: Pick<
    ApiConfig,
    'http' | 'keyPepper' | 'models' | 'repositories' | 'rateLimits' | 'webhookAllowedHosts' | 'temporalUiUrl'
  >;
  /** Asked whether the database answers. */
  pool: Pool;
  stores: ApiStores;
  models: Pick<ModelRegistry, 'problemWith'>;
  assistant: AssistantParts;
  log: Logger;
  /** Called after a turn of a job was written. */
  onJobCreated: () => void;
  onJobCancelled: () => void;
  isDraining: () => boolean;
  /** Where the built dashboard lies; it may be built later. */
  dashboardDirectory: string;
  jobEvents: { wakeups: JobEventWakeups; stopping: AbortSignal };
}

export interface App {
  koa: Koa<AppState>;
  verifier: KeyVerifier;
}

/** What every router needs to let a request in. */
export interface Gate {
  authenticate: Authenticate;
  verifyKey: VerifyKey;
  cookie: SessionCookie;
  enforceRateLimit: EnforceRateLimit;
  addressOf: (request: IncomingMessage) => string;
}

/** The application: middleware in order. It never listens. */
export function createApp(deps: AppDeps): App {
  const { config, pool, stores, log } = deps;
  const { jobs, steps, pullRequests } = stores;
  const verifier = createKeyVerifier({ keys: stores.keys, pepper: config.keyPepper });
  const gate = createGate(deps, verifier);
  const readJob = createJobReader({ jobs });
  const openApi = createOpenApi({
    baseUrl: config.http.baseUrl,
    paths: [
      describeJobs,
      describeJobLists,
      describeJobActions,
      describeJobRecords,
      describeAssistant,
      describeGaps,
      describeSession,
      describeAdministration,
      describeSystem,
      describeWebhooks,
    ],
  });

  const creation = createJobCreation({
    jobs,
    problemWithModel: (name) => deps.models.problemWith(name),
    defaultModel: config.models.agent,
    repositories: config.repositories,
  });

  const routers: AppRouter[] = [
    createSystemRouter({ checkDatabase: () => ping(pool), isDraining: deps.isDraining, openApi }),
    createSessionRouter({
      ...gate,
      ...stores,
      defaults: { agentModel: config.models.agent, assistantModel: config.models.assistant },
      temporalUiUrl: config.temporalUiUrl,
    }),
    createPullRequestsRouter({ pullRequests, jobs, steps }),
    createJobsRouter({
      ...gate,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      projects: stores.projects,
      jobs,
      steps,
      creation,
      readJob,
      onCreated: deps.onJobCreated,
    }),
    createJobListsRouter({ ...gate, ...deps.jobEvents, lists: stores.lists, log }),
    createJobEventsRouter({ ...gate, ...deps.jobEvents, readJob, events: stores.events, log }),
    createJobActionsRouter({
      ...gate,
      messagePolicy: { name: 'message', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      messages: stores.messages,
      endings: stores.endings,
      readJob,
      onBegun: deps.onJobCreated,
      onCancelled: deps.onJobCancelled,
    }),
    createJobForksRouter({
      ...gate,
      ...stores,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      problemWithModel: (name) => deps.models.problemWith(name),
      readJob,
      onCreated: deps.onJobCreated,
    }),
    createJobRecordsRouter({ ...gate, ...stores, readJob, log }),
    createWebhooksRouter({ ...gate, ...stores, allowedHosts: config.webhookAllowedHosts }),
    ...administrationRouters(deps, gate, creation),
    ...assistantRouters(deps, gate),
  ];

  const koa = new Koa<AppState>();
  koa.on('error', (error: NodeJS.ErrnoException) => {
    // a client that went away is no error of ours
    if (!['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(error.code ?? ''))
      log.error({ err: error }, 'response failed');
  });
  koa.use(createRequestId());
  koa.use(createCors());
  koa.use(createErrorHandler({ log, isStoreDown }));
  koa.use(createJobPoll({ authenticate: gate.authenticate, readJob, presentJob }));
  koa.use(createRequestGuard());
  koa.use(createDashboard({ files: createDashboardFiles({ directory: deps.dashboardDirectory }) }));
  for (const router of routers) koa.use(router.routes());
  koa.use(createNoRoute());
  return { koa, verifier };
}

function administrationRouters(deps: AppDeps, gate: Gate, creation: JobCreation): AppRouter[] {
  const { config, stores } = deps;
  const access = createAccess(deps, gate);
  const note = createAuditTrail(stores);
  const shared = { ...gate, ...stores, note, repositories: config.repositories };
  return [
    createProjectsRouter({ ...shared, problemWithModel: (name) => deps.models.problemWith(name) }),
    createSitesRouter({ ...shared, access }),
    createGapsRouter({
      ...shared,
      access,
      jobPolicy: { name: 'job', limit: config.rateLimits.jobsPerHour, windowSeconds: 3600 },
      gapReader: createGaps(stores),
      creation,
      onCreated: deps.onJobCreated,
    }),
    createKeysRouter(shared),
  ];
}

function createAccess({ config, stores }: AppDeps, gate: Gate): SiteAccess {
  const { assistantPerHour, assistantPerIpPerDay } = config.rateLimits;
  return createSiteAccess({
    ...gate,
    sites: stores.sites,
    limits: { perOrganizationAndHour: assistantPerHour, perAddressAndDay: assistantPerIpPerDay },
  });
}

function assistantRouters(deps: AppDeps, gate: Gate): AppRouter[] {
  const { assistant: parts, stores, log } = deps;
  const access = createAccess(deps, gate);
  return [
    createAssistantRouter({ ...parts, access, logger: log }),
    createSearchRouter({
      access,
      indexes: parts.indexes,
      searchPassages: parts.searchPassages,
      onEmpty: (siteId, query) =>
        void stores.emptySearches
          .count(siteId, query)
          .catch((error: unknown) =>
            log.warn({ err: error, site: siteId }, 'a search that found nothing was not counted'),
          ),
    }),
    createFeedbackRouter({ ...stores, access }),
    createThreadsRouter({ access, threads: parts.threads }),
  ];
}

function createGate({ config, stores, log }: AppDeps, verifier: KeyVerifier): Gate {
  const addressOf = createAddressReader({ trustedProxies: config.http.trustedProxies });
  const limiter = createRateLimiter({
    store: stores.rateLimits,
    onFallback: (error) => log.warn({ err: error }, 'rate limits are counted by this process alone'),
  });
  const verifyKey = createVerifyKey({ verifier, failures: createFailedAttempts({ limiter }), addressOf });
  const cookie = createSessionCookie({ pepper: config.keyPepper, baseUrl: config.http.baseUrl });
  const authenticate = createAuthentication({
    verifyKey,
    sessions: stores.sessions,
    cookie,
    onExposedKey: (keyId) => log.warn({ keyId }, 'an admin key came from a browser: revoke it'),
  });
  return { authenticate, verifyKey, cookie, enforceRateLimit: createRateLimit({ limiter }), addressOf };
}

async function ping(pool: Pool): Promise<void> {
  // a database that takes connections but answers nothing is not ready either
  const answered = await Promise.race([pool.query('select 1'), wait(2_000, null, { ref: false })]);
  if (answered === null) throw new Error('The database did not answer in time.');
}
