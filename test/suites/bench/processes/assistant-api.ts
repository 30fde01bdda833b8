import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { createApp } from '../../../../api/app.ts';
import { createAssistantParts } from '../../../../api/assistant/wire/assistant-parts.ts';
import { readConfig } from '../../../../api/config.ts';
import { createHttpServer } from '../../../../api/http/server.ts';
import { createServiceStores } from '../../../../api/service-stores.ts';
import { createApiStores } from '../../../../api/stores.ts';
import { createJobEventWakeups } from '../../../../db/jobs/job-event-wakeups.ts';
import { createPriceBook } from '../../../../models/prices.ts';
import { createPool } from '../../../../db/pool.ts';
import { answerParent } from '../support/answer-parent.ts';
import { createStreamModel } from '../support/stream-model.ts';

// The API as it runs in production, with a model that answers at once.
const config = readConfig(process.env);
// the load generator counts what fails
const log = pino({ level: 'silent' });
const pool = createPool({ url: config.database.url, maxConnections: 10, applicationName: 'bench-api' });
const stores = createApiStores({ pool, config });
const service = createServiceStores({ pool, config });
const cacheDirectory = await mkdtemp(join(tmpdir(), 'docket-bench-api-'));
/** When the model was told that an answer is no longer needed, in milliseconds since the epoch. */
const abortedAt: number[] = [];
const onAbort = () => abortedAt.push(performance.timeOrigin + performance.now());
const models = { languageModel: () => createStreamModel({ onAbort }), problemWith: () => null };
// measured beyond the load at which new streams are refused
const times = { maxLoopDelayMs: 60_000 };
const modelName = 'bench/stream';
const money = { prices: createPriceBook(), budgetMicros: null };
const { indexChanges } = service;
const noModels = { embeddingModel: null, rerankingModel: null };
const parts = { stores, indexChanges, log, models, modelName, ...money, ...noModels, cacheDirectory, times };
const assistant = createAssistantParts(parts);
const wakeups = createJobEventWakeups({ url: config.database.url, pool });
const { koa } = createApp({
  config,
  pool,
  stores,
  service,
  models,
  assistant,
  log,
  onJobCreated: () => {},
  onJobCancelled: () => {},
  isDraining: () => false,
  dashboardDirectory: cacheDirectory,
  jobEvents: { wakeups, stopping: new AbortController().signal },
});
const http = createHttpServer(koa.callback());
const port = await http.listen({ host: '127.0.0.1', port: 0 });

answerParent({ port: () => port, abortedAt: () => abortedAt }, async () => {
  await http.close(0);
  await assistant[Symbol.asyncDispose]();
  await wakeups[Symbol.asyncDispose]();
  await pool.end();
  await rm(cacheDirectory, { recursive: true, force: true });
});
