import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { JobEventWakeups } from '../db/jobs/job-event-wakeups.ts';
import type { ModelRegistry } from '../models/registry.ts';
import type { AssistantParts } from './assistant/wire/assistant-parts.ts';
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
    | 'prices'
    | 'repositories'
    | 'rateLimits'
    | 'budgets'
    | 'encryptionKeys'
    | 'webhookAllowedHosts'
    | 'temporal'
    | 'captchaVerifyUrl'
    | 'temporalUiUrl'
  >;
  /** Used to check whether the database responds. */
  pool: Pool;
  stores: ApiStores;
  /** Tracks the organization of each request, because the pool's connections are divided among organizations. */
  holders?: RequestHolders;
  service: Pick<ServiceStores, 'signedIn' | 'access' | 'siteRollups'>;
  models: Pick<ModelRegistry, 'problemWith'>;
  assistant: AssistantParts;
  log: Logger;
  /** Called after a turn of a job has been stored. */
  onJobCreated: () => void;
  onJobCancelled: () => void;
  isDraining: () => boolean;
  /** Directory of the built dashboard, which may be built later. */
  dashboardDirectory: string;
  jobEvents: { wakeups: JobEventWakeups; stopping: AbortSignal };
}
