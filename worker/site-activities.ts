import { join } from 'node:path';
import type { Pool } from 'pg';
import { createAttempt } from '../activities/attempt.ts';
import { createRedactor } from '../activities/redaction.ts';
import { createSiteActivities, type SiteActivities } from '../activities/site-index.ts';
import { createSiteIndexStore, createSiteStore } from '../db/sites.ts';
import type { WorkerClients } from './clients.ts';
import { secretsOf, type WorkerConfig } from './config.ts';

/** Wires the activities of site indexing with the real clients and stores. */
export function createIndexActivities({
  config,
  pool,
  clients,
}: {
  config: WorkerConfig;
  pool: Pool;
  clients: WorkerClients;
}): SiteActivities {
  return createSiteActivities({
    ...clients,
    sites: createSiteStore(pool),
    indexes: createSiteIndexStore(pool),
    attempt: createAttempt({ redact: createRedactor(secretsOf(config)) }),
    directory: join(config.workDirectory, 'indexes'),
    siteDirectories: config.siteDirectories,
  });
}
