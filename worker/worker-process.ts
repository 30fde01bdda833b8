import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import type { Info } from '@temporalio/activity';
import { Client } from '@temporalio/client';
import type { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Commands } from '../activities/tools/commands.ts';
import { openJobDisks } from '../activities/workspaces/job-disks.ts';
import { createProcessHost } from '../activities/git/process-host.ts';
import { createKnownSecrets, type KnownSecrets } from '../lib/redaction/known-secrets.ts';
import { createGrantedAccess } from '../activities/job/granted-access.ts';
import { checkDatabase } from '../db/check-database.ts';
import { createPool } from '../db/pool.ts';
import { createWorkNotices } from '../db/work-notices.ts';
import { createDataConverter } from '../lib/encryption/data-converter.ts';
import { createSecretBox } from '../lib/encryption/secret-box.ts';
import { indexFormat } from '../search/query/index-format.ts';
import { repeat } from '../lib/repeat.ts';
import { createTemporalConnection } from '../lib/temporal/temporal-connection.ts';
import { openTemporalCredentials, type TemporalCredentials } from '../lib/temporal/temporal-credentials.ts';
import { createLoopBlockWatch } from '../lib/threads/loop-block-watch.ts';
import { openTracing } from '../lib/tracing/open-tracing.ts';
import { createClients } from './clients.ts';
import { secretsOf, type WorkerConfig } from './config/config.ts';
import { createWorker, jobQueue, siteQueue, webhookQueue } from './create-worker.ts';
import { uninstrumented, type InstrumentWorker } from './instrument.ts';
import { leaveLostWorker } from './leave-lost-worker.ts';
import { createForgeChores } from './chores/forge-chores.ts';
import { createHistoryChores } from './chores/history-chores.ts';
import { createClosedExecutionReader } from './chores/history-export.ts';
import { createJobActivities, createIndexActivities, createDeliveryActivities } from './activities.ts';
import { createJobChores } from './chores/job-chores.ts';
import { createRetentionChores } from './chores/retention-chores.ts';
import { reportWorker } from './chores/report-worker.ts';
import { runWorkers } from './run-workers.ts';
import { openCommands } from './open-commands.ts';
import { createMergeChores } from './chores/merge-chores.ts';
import { serveHealth } from './health.ts';
import { createDuePoll } from '../lib/due-poll.ts';
import { createSiteChores } from './chores/site-chores.ts';
import { createWorkerStores } from './stores.ts';
import { traceActivities } from './trace-activities.ts';
import { watchActivities } from './watch-activities.ts';
import { createWatchdog } from './chores/watchdog.ts';
import { createWebhookChores } from './chores/webhook-chores.ts';
import { prepareWorkflowBundle } from './workflow-bundle.ts';
import { createWorkspaceChores } from './chores/workspace-chores.ts';

export interface WorkerProcess {
  config: WorkerConfig;
  log: Logger;
  /** Requests the shutdown. */
  signal: AbortSignal;
  /** Secrets that the log redacts, too. */
  secrets?: KnownSecrets;
  /** The sandbox, if it is being opened already. */
  commands?: Promise<Commands>;
  /** Wraps the parts of the process; tests inject failures with it. */
  instrument?: InstrumentWorker;
}

/** Wires a worker process and runs it until the signal has aborted and running work has ended. */
export async function runWorkerProcess(wiring: WorkerProcess): Promise<void> {
  const { config, log, signal, instrument = uninstrumented } = wiring;
  const { secrets = createKnownSecrets(secretsOf(config)) } = wiring;
  if (config.encryptionKeys.length === 0)
    log.info('stored secrets and payloads are not encrypted; DOCKET_ENCRYPTION_KEYS is not set');
  await using resources = new AsyncDisposableStack();
  const pool = createPool({
    url: config.database.url,
    maxConnections: config.database.connections ?? 20,
    applicationName: 'docket-worker',
  });
  resources.defer(() => pool.end());
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: 'docket_worker_' });
  const loopBlocks = createLoopBlockWatch<Info>({
    log,
    registers: [registry],
    prefix: 'docket_worker',
    nameOf: ({ activityType }) => activityType,
  });
  let polling: readonly Worker[] = [];
  if (config.healthPort !== null) {
    const isPolling = () => polling.length > 0 && polling.every((worker) => worker.getState() === 'RUNNING');
    const health = resources.use(
      await serveHealth({
        port: config.healthPort,
        isPolling,
        checkDatabase: () => checkDatabase(pool),
        metrics: registry,
      }),
    );
    log.info({ port: health.port }, 'health answers');
  }
  resources.use(
    await openTracing({
      settings: config.tracing,
      service: 'docket-worker',
      redact: secrets.redactLog,
      onFailure: (error) => log.warn({ err: error }, 'trace export failed'),
    }),
  );
  const stores = instrument('stores', createWorkerStores({ pool, box: createSecretBox(config.encryptionKeys) }));
  const { address, namespace } = config.temporal;
  const credentials = resources.use(
    openTemporalCredentials(config.temporal, {
      onFailure: (error) =>
        log.warn({ err: error }, 'the Temporal credentials cannot be read; keeping the previous ones'),
    }),
  );
  const learnApiKey = ({ apiKey }: TemporalCredentials) => void (apiKey !== undefined && secrets.add(apiKey));
  learnApiKey(credentials.current());
  credentials.onChange(learnApiKey);
  const connection = resources.use(createTemporalConnection({ address, credentials }));
  const dataConverter = createDataConverter(config.encryptionKeys);
  const client = instrument('client', new Client({ connection, namespace, dataConverter }));
  /** A chore that one worker does for all. */
  const forAll = (name: string, everyMs: number) => ({
    name,
    everyMs,
    isDue: () => stores.chores.claim(name, everyMs),
  });
  const watchdog = createWatchdog({ ...stores, client, log });
  resources.use(repeat({ ...forAll('watchdog', 60_000), work: watchdog.check, log }));
  const notices = resources.use(createWorkNotices({ url: config.database.url }));
  const isDue = createDuePoll({ poll: () => stores.dueWork.poll(), isQuiet: notices.isQuiet });
  resources.use(createSiteChores({ ...stores, isDue: isDue('indexRequests'), client, log, indexFormat }));
  resources.use(createWebhookChores({ ...stores, isDue: isDue('webhookStarts'), client, log }));
  const { pullRequests } = stores;
  const processes = resources.use(createProcessHost());
  const disks = config.jobDisks && (await openJobDisks(config.workDirectory, config.jobDisks));
  const clients = instrument('clients', createClients({ config, pullRequests, processes, disks, instrument }));
  void clients.checkGit().catch((error: unknown) => log.warn({ err: error }, 'git cannot be used'));
  const granted = createGrantedAccess({ ...stores, ...clients, secrets });
  resources.use(createJobChores({ ...stores, granted, client, log }));
  resources.use(createForgeChores({ ...stores, ...clients, log }));
  const dueMerges = { isDue: isDue('merges'), isCheckDue: isDue('mergeChecks') };
  resources.use(createMergeChores({ ...stores, ...clients, ...dueMerges, granted, log }));
  const readClosedExecution = createClosedExecutionReader({ client, encryptionKeys: config.encryptionKeys });
  const histories = { ...stores, isDue: isDue('histories'), keepDays: config.historyDays };
  resources.use(createHistoryChores({ ...histories, readClosedExecution, log }));
  resources.use(createRetentionChores({ ...stores, limits: config.retention, log }));
  resources.use(createWorkspaceChores({ ...stores, ...clients, mirrorBytes: config.mirrorBytes, log }));

  const version = config.buildId ?? 'unversioned';
  resources.use(reportWorker({ workers: stores.workers, polling: () => polling, version, log }));

  const { failureConverterPath } = dataConverter;
  const [bundle, commands] = await Promise.all([
    prepareWorkflowBundle({ directory: join(config.workDirectory, 'cache'), failureConverterPath }),
    wiring.commands ?? openCommands(config, { log, resources }),
  ]);
  const shared = { config, stores, clients, secrets, commands, instrument, draining: signal };
  // jobs first, because people wait for them
  const queues = [
    { ...jobQueue(createJobActivities(shared)), maxConcurrentActivities: config.slots },
    siteQueue(createIndexActivities(shared)),
    webhookQueue(createDeliveryActivities(shared)),
  ];
  const { graceMs: shutdownGraceMs, buildId } = config;
  const traced = config.tracing === null ? [] : [traceActivities({ turnStartedAt: stores.jobs.turnStartedAt })];
  const interceptors = [leaveLostWorker(client), watchActivities(loopBlocks), ...traced];
  const shape = { namespace, bundle, dataConverter, shutdownGraceMs, buildId, interceptors };
  await runWorkers({
    address,
    credentials,
    createWorker: queues.map((queue) => (connection) => createWorker({ ...shape, connection, queue })),
    onWorkers(workers) {
      polling = workers;
      if (workers.length === 0) return;
      // a worker that replaces this one finds the code compiled; a killed process does not reach the flush at its exit
      flushCompileCache();
      loopBlocks.watch(signal);
    },
    log,
    signal,
  });
  log.info('worker stopped');
}
