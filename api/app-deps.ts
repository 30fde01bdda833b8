import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { JobEventWakeups } from '../db/jobs/job-event-wakeups.ts';
import type { ModelRegistry } from '../models/registry.ts';
import type { AssistantParts } from './assistant/assistant-parts.ts';
import type { ApiConfig } from './config.ts';
import type { RequestHolders } from './access/request-holders.ts';
import type { ServiceStores } from './service-stores.ts';
import type { ApiStores } from './stores.ts';

export interface AppDeps {
  config: Pick<
    ApiConfig,
    | 'http'
    | 'keyPepper'
    | 'models'
    | 'repositories'
    | 'rateLimits'
    | 'budgets'
    | 'webhookAllowedHosts'
    | 'temporal'
    | 'temporalUiUrl'
  >;
  /** Asked whether the database answers. */
  pool: Pool;
  stores: ApiStores;
  /** Names the organizations that the connections of the pool are divided between. */
  holders?: RequestHolders;
  service: Pick<ServiceStores, 'signedIn' | 'access'>;
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
