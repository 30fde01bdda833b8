import { join } from 'node:path';
import { createRunTool } from '../activities/tools/run-tool.ts';
import { createToolset } from '../activities/tools/toolset.ts';
import type { Commands } from '../activities/tools/commands.ts';
import type { Toolset } from '../activities/tools/agent-tool.ts';
import { createActivities, type Activities } from '../activities/index.ts';
import { createPriceBook } from '../models/prices.ts';
import { createModelRegistry } from '../models/registry.ts';
import { traceModels } from '../lib/tracing/trace-models.ts';
import type { WorkerClients } from './clients.ts';
import type { KnownSecrets } from '../lib/redaction/known-secrets.ts';
import type { WorkerConfig } from './config/config.ts';
import { traceTools } from './trace-tools.ts';
import { uninstrumented, type InstrumentWorker } from './instrument.ts';
import type { WorkerStores } from './stores.ts';
import { createAttempt } from '../activities/attempt.ts';
import { createSiteActivities, type SiteActivities } from '../activities/sites/site-index.ts';
import { threadLimits } from '../activities/sites/threads/read-threads.ts';
import { crawlLimits } from '../activities/sites/website/crawl.ts';
import { createWebhookSender } from '../activities/network/webhook-sender.ts';
import { createWebhookActivities, type WebhookActivities } from '../activities/webhooks/webhooks.ts';

export interface ActivityWiring {
  config: WorkerConfig;
  stores: WorkerStores;
  clients: WorkerClients;
  secrets: KnownSecrets;
  commands: Commands;
  instrument?: InstrumentWorker;
  /** Aborts when the process starts to shut down. */
  draining?: AbortSignal;
}

/** Wires the activities of jobs with the real clients and stores. */
export function createJobActivities(wiring: ActivityWiring): Activities {
  const { config, stores, clients, secrets, commands, instrument = uninstrumented, draining } = wiring;
  const trace = (toolset: Toolset) => traceTools(toolset, config.tracing);
  const activities = createActivities({
    ...clients,
    ...stores,
    models: traceModels(instrument('models', createModelRegistry(config.models)), config.tracing),
    prices: createPriceBook(config.prices),
    budgetCeilings: config.budgets,
    ...config.environments,
    toolset: trace(createToolset(commands?.sandbox == null ? {} : { run: createRunTool(commands) })),
    traceTools: trace,
    commands,
    waitDays: config.waitDays,
    selfReview: config.selfReview,
    secrets,
    draining,
  });
  return instrument('activities', activities);
}

/** Wires the activities of site indexing with the real clients and stores. */
export function createIndexActivities(wiring: ActivityWiring): SiteActivities {
  const { config, stores, clients, secrets, instrument = uninstrumented } = wiring;
  const activities = createSiteActivities({
    ...clients,
    ...stores,
    secrets,
    threads: { store: stores.sourceThreads, limits: threadLimits },
    websites: { pages: stores.websitePages, limits: crawlLimits },
    embedding: config.embedding && { ...config.embedding, settings: config.models },
    attempt: createAttempt({ secrets }),
    directory: join(config.workDirectory, 'indexes'),
  });
  return instrument('activities', activities);
}

/** Wires the activities of webhook deliveries with the real sender and stores. */
export function createDeliveryActivities(wiring: ActivityWiring): WebhookActivities {
  const { config, stores, secrets, instrument = uninstrumented } = wiring;
  const activities = createWebhookActivities({
    attempts: stores.webhookAttempts,
    sender: createWebhookSender({ allowedHosts: config.webhookAllowedHosts }),
    attempt: createAttempt({ secrets }),
    secrets,
    baseUrl: config.baseUrl,
  });
  return instrument('activities', activities);
}
