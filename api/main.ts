import { createJobEventWakeups } from '../db/job-event-wakeups.ts';
import { createJobEventStore } from '../db/job-events.ts';
import { createCancelStore, createOutboxStore } from '../db/outbox.ts';
import { createPool } from '../db/pool.ts';
import { createRateLimitStore } from '../db/rate-limits.ts';
import { createModelRegistry } from '../models/registry.ts';
import { createApp } from './app.ts';
import { createAssistantParts } from './assistant-parts.ts';
import { ConfigError, readConfig } from './config.ts';
import type { ApiConfig } from './config.ts';
import { createJobCanceller } from './job-canceller.ts';
import { createJobStarter } from './job-starter.ts';
import { createLogger } from './log.ts';
import { createOutboxSweeper } from './outbox-sweeper.ts';
import { createPeriodicTasks } from './periodic-tasks.ts';
import { createHttpServer } from './server.ts';
import { createTemporalClient } from './temporal.ts';

/** How long open streams may run on after the signal to stop. */
const graceMs = 20_000;

async function main(config: ApiConfig): Promise<void> {
  const log = createLogger({ level: config.logLevel });
  await using cleanup = new AsyncDisposableStack();
  const stopped = stopSignal();

  const pool = createPool({
    url: config.database.url,
    maxConnections: 10,
    applicationName: 'docket-api',
    statementTimeoutMs: 5_000,
    onConnectionLost: (error) => log.warn({ err: error }, 'database connection lost'),
  });
  cleanup.defer(() => pool.end());
  const temporal = createTemporalClient(config.temporal);
  cleanup.defer(() => temporal.close());

  const sweeper = cleanup.use(
    createOutboxSweeper({
      outbox: createOutboxStore(pool),
      startJob: createJobStarter({ client: temporal.client, limits: config.jobLimits }),
      log,
    }),
  );
  const canceller = cleanup.use(
    createOutboxSweeper({
      outbox: createCancelStore(pool),
      startJob: createJobCanceller({ client: temporal.client }),
      log,
      failure: 'job not cancelled in the engine yet; it is tried again',
    }),
  );
  const models = createModelRegistry(config.models.settings);
  const assistant = cleanup.use(
    createAssistantParts({
      pool,
      log,
      models,
      modelName: config.models.assistant,
      cacheDirectory: config.cacheDirectory,
    }),
  );
  const wakeups = cleanup.use(
    createJobEventWakeups({
      url: config.database.url,
      events: createJobEventStore(pool),
      onConnectionLost: (error) => log.warn({ err: error }, 'not told of job events; asking for them instead'),
    }),
  );
  const { koa, verifier } = createApp({
    config,
    pool,
    models,
    assistant,
    log,
    onJobCreated: () => sweeper.wake(),
    onJobCancelled: () => canceller.wake(),
    isDraining: () => stopped.signal.aborted,
    jobEvents: { wakeups, stopping: stopped.signal },
  });
  cleanup.use(
    createPeriodicTasks({
      log,
      tasks: [
        { name: 'key uses', everyMs: 15_000, run: () => verifier.flushUses(), isRunAtEnd: true },
        { name: 'reply sweep', everyMs: 60_000, run: () => assistant.replies.sweep() },
        { name: 'thread retention', everyMs: 3_600_000, run: async () => void (await assistant.threads.sweep()) },
        { name: 'rate limit sweep', everyMs: 300_000, run: () => createRateLimitStore(pool).sweep() },
      ],
    }),
  );

  const http = createHttpServer(koa.callback());
  const port = await http.listen(config.http);
  log.info({ host: config.http.host, port }, 'api ready');

  await stopped.promise;
  log.info('api stops');
  setTimeout(() => process.exit(1), graceMs + 10_000).unref();
  // streams are told to end when the grace is over; their last bytes need a moment
  const drained = assistant.streams.drain(graceMs);
  await http.close(graceMs + 3_000);
  await drained;
}

function stopSignal(): { signal: AbortSignal; promise: Promise<void> } {
  const controller = new AbortController();
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      controller.abort();
      resolve();
    });
  }
  return { signal: controller.signal, promise };
}

/** One line for whoever reads the log; the port is the usual suspect. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE') return 'The port is in use by another process; set PORT to a free one.';
  if (code === 'EACCES') return 'The port may not be opened by this user; set PORT to one above 1023.';
  return error.message;
}

try {
  await main(readConfig(process.env));
} catch (error) {
  const log = createLogger({ level: 'info' });
  if (error instanceof ConfigError) log.fatal(`The configuration is wrong: ${error.message}`);
  else log.fatal({ err: error }, `The API could not run. ${reasonOf(error)}`);
  process.exitCode = 1;
}
