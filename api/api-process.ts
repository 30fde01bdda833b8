import { embeddingModelOf } from './assistant/retrieval/embed-query.ts';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { createJobEventWakeups } from '../db/jobs/job-event-wakeups.ts';
import { createPool } from '../db/pool.ts';
import { createWorkNotices } from '../db/work-notices.ts';
import { createPriceBook } from '../models/prices.ts';
import { createModelRegistry } from '../models/registry.ts';
import { createRedactor } from '../lib/redaction/redactor.ts';
import { openTracing } from '../lib/tracing/open-tracing.ts';
import { traceModels } from '../lib/tracing/trace-models.ts';
import { createApp } from './app.ts';
import { createAssistantParts } from './assistant/wire/assistant-parts.ts';
import { secretsOf, type ApiConfig } from './config.ts';
import { createEvaluationRuns, evaluationsAtOnce } from './evaluations/run-evaluations.ts';
import { createGapChecks } from './sites/gap-checks.ts';
import { openJobExecutions } from './jobs/job-executions.ts';
import { createOutboxSweeper } from './jobs/outbox-sweeper.ts';
import { repeat } from '../lib/repeat.ts';
import { createDuePoll } from '../lib/due-poll.ts';
import { createRequestHolders } from './access/request-holders.ts';
import { createHttpServer } from './http/server.ts';
import { createServiceStores } from './service-stores.ts';
import { createApiStores } from './stores.ts';

/** Parts of an API process that communicate with the outside. */
type ApiPart = 'stores' | 'service' | 'client' | 'models';

/** Returns a part, or a wrapper around it with the same interface. */
type InstrumentApi = <Part extends object>(name: ApiPart, part: Part) => Part;

const uninstrumented: InstrumentApi = (_name, part) => part;

export interface ApiProcess {
  config: ApiConfig;
  log: Logger;
  /** Requests shutdown. */
  signal: AbortSignal;
  /** Wraps the parts of the process, so that a test can make them fail. */
  instrument?: InstrumentApi;
}

const dashboardDirectory = join(import.meta.dirname, '../dashboard/dist');

/** Time for which open streams may continue after the signal to stop. */
const graceMs = 20_000;

/** Wires up an API process and serves until the signal aborts and the open streams have ended. */
export async function runApiProcess({ config, log, signal, instrument = uninstrumented }: ApiProcess): Promise<void> {
  if (config.encryptionKeys.length === 0)
    log.info('stored secrets and payloads are not encrypted; DOCKET_ENCRYPTION_KEYS is not set');
  await using cleanup = new AsyncDisposableStack();
  const holders = createRequestHolders();
  const pool = createPool({
    url: config.database.url,
    maxConnections: config.database.connections ?? 10,
    applicationName: 'docket-api',
    statementTimeoutMs: 5_000,
    holderOf: holders.current,
    quotas: config.quotas,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
  });
  cleanup.defer(() => pool.end());
  const stores = instrument('stores', createApiStores({ pool, config }));
  const service = instrument('service', createServiceStores({ pool, config }));
  const executions = cleanup.use(
    openJobExecutions({
      settings: config.temporal,
      encryptionKeys: config.encryptionKeys,
      limits: config.jobLimits,
      instrument: (client) => instrument('client', client),
      onFailure: (error) =>
        log.warn({ err: error }, 'the Temporal credentials cannot be read; keeping the previous ones'),
    }),
  );

  const notices = cleanup.use(createWorkNotices({ url: config.database.url }));
  const isDue = createDuePoll({ poll: () => service.dueChores.poll(), isQuiet: notices.isQuiet });
  const sweeper = cleanup.use(
    createOutboxSweeper({
      outbox: stores.outbox,
      startJob: executions.start,
      isDue: isDue('starts'),
      log,
    }),
  );
  const canceller = cleanup.use(
    createOutboxSweeper({
      outbox: stores.cancels,
      startJob: executions.cancel,
      isDue: isDue('cancels'),
      log,
      failure: 'job not cancelled in Temporal yet; retrying',
    }),
  );
  cleanup.use(
    await openTracing({
      settings: config.tracing,
      service: 'docket-api',
      redact: createRedactor(secretsOf(config)),
      onFailure: (error) => log.warn({ err: error }, 'trace export failed'),
    }),
  );
  const models = traceModels(instrument('models', createModelRegistry(config.models.settings)), config.tracing);
  const assistant = cleanup.use(
    createAssistantParts({
      stores,
      indexChanges: service.indexChanges,
      log,
      models,
      modelName: config.models.assistant,
      prices: createPriceBook(config.prices),
      budgetMicros: config.budgets.organizationMicros,
      embeddingModel: embeddingModelOf(config.embedding, models),
      rerankingModel: config.models.reranking === null ? null : models.rerankingModel(config.models.reranking),
      cacheDirectory: config.cacheDirectory,
      isQuiet: notices.isQuiet,
    }),
  );
  const wakeups = cleanup.use(
    createJobEventWakeups({
      url: config.database.url,
      pool,
      onConnectionLost: (error) => log.warn({ err: error }, 'job event notifications are unavailable; polling instead'),
    }),
  );
  // clients that reconnect are still served while proxies redirect their traffic
  const closing = new AbortController();
  const { koa, loopBlocks, verifier, keyUses, openedPages, openAnswers, polledJobs } = createApp({
    config,
    pool,
    holders,
    stores,
    service,
    models,
    assistant,
    log,
    onJobCreated: () => sweeper.wake(),
    onJobCancelled: () => canceller.wake(),
    isDraining: () => signal.aborted,
    dashboardDirectory,
    jobEvents: { wakeups, stopping: closing.signal },
  });
  const chores = [
    { name: 'key uses', everyMs: 15_000, work: () => verifier.flushUses(), isRunAtEnd: true },
    { name: 'opened pages', everyMs: 5_000, work: () => openedPages.flush(), isRunAtEnd: true },
    { name: 'polled jobs', everyMs: 1_000, work: () => polledJobs.check() },
    { name: 'request counts', everyMs: 5_000, work: () => keyUses.flush(), isRunAtEnd: true },
    { name: 'ended access', everyMs: openAnswers.checkEveryMs, work: () => openAnswers.endRevoked() },
    { name: 'request count sweep', everyMs: 3_600_000, work: () => stores.usage.sweep() },
    { name: 'reply sweep', everyMs: 60_000, work: () => service.sweeps.replies() },
    { name: 'lost answers', everyMs: 60_000, work: () => service.sweeps.answerHolds() },
    { name: 'thread retention', everyMs: 3_600_000, work: () => service.sweeps.threads() },
    {
      name: 'gap checks',
      everyMs: 3_000,
      isDue: isDue('gapChecks'),
      work: createGapChecks({ ...stores, ...assistant, gaps: service.gapChecks, log, stopping: signal }),
    },
    ...Array.from({ length: evaluationsAtOnce }, () => ({
      name: 'evaluations',
      everyMs: 3_000,
      isDue: isDue('evaluations'),
      work: createEvaluationRuns({ ...stores, ...assistant, ...service, log, stopping: signal }),
    })),
    { name: 'empty search sweep', everyMs: 3_600_000, work: () => service.sweeps.emptySearches() },
    { name: 'session sweep', everyMs: 3_600_000, work: () => service.sweeps.sessions() },
    { name: 'totals of ended jobs', everyMs: 10_000, work: () => stores.figures.addUp() },
    { name: 'operation rollups', everyMs: 10_000, work: () => service.rollups.add() },
    { name: 'earlier operation rollups', everyMs: 60_000, work: () => service.rollups.addEarlier() },
    { name: 'site rollups', everyMs: 10_000, work: () => service.siteRollups.add() },
    { name: 'site rollup sweep', everyMs: 3_600_000, work: () => service.siteRollups.sweep() },
    { name: 'operation rollup sweep', everyMs: 3_600_000, work: () => service.rollups.sweep() },
    { name: 'rate limit sweep', everyMs: 300_000, work: () => stores.rateLimits.sweep() },
  ];
  for (const chore of chores) cleanup.use(repeat({ ...chore, log }));

  const http = createHttpServer(koa.callback());
  const port = await http.listen(config.http);
  log.info({ host: config.http.host, port }, 'api ready');
  loopBlocks.watch(signal);

  if (!signal.aborted) await once(signal, 'abort');
  log.info('api stopping');
  setTimeout(() => process.exit(1), config.drainMs + graceMs + 10_000).unref();
  http.turnAway();
  await delay(config.drainMs);
  closing.abort();
  // streams are aborted when the grace period ends; allow time for their last bytes
  const drained = assistant.streams.drain(graceMs);
  await http.close(graceMs + 3_000);
  await drained;
}
