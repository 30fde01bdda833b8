import { createRunTool } from '../activities/tools/run-tool.ts';
import { createToolset } from '../activities/tools/toolset.ts';
import type { Commands } from '../activities/tools/commands.ts';
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

export interface ActivityWiring {
  config: WorkerConfig;
  stores: WorkerStores;
  clients: WorkerClients;
  secrets: KnownSecrets;
  commands: Commands;
  instrument?: InstrumentWorker;
  /** Aborts when the process is about to go. */
  draining?: AbortSignal;
}

/** Wires the activities of jobs with the real clients and stores. */
export function createJobActivities(wiring: ActivityWiring): Activities {
  const { config, stores, clients, secrets, commands, instrument = uninstrumented, draining } = wiring;
  const activities = createActivities({
    ...clients,
    ...stores,
    models: traceModels(instrument('models', createModelRegistry(config.models)), config.tracing),
    prices: createPriceBook(config.prices),
    budgetCeilings: config.budgets,
    toolset: traceTools(
      createToolset(commands?.sandbox == null ? {} : { run: createRunTool(commands) }),
      config.tracing,
    ),
    commands,
    secrets,
    draining,
  });
  return instrument('activities', activities);
}
