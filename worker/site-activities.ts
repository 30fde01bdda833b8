import { join } from 'node:path';
import { createAttempt } from '../activities/attempt.ts';
import { createRedactor } from '../activities/redaction.ts';
import { createSiteActivities, type SiteActivities } from '../activities/site-index.ts';
import { secretsOf } from './config.ts';
import { uninstrumented } from './instrument.ts';
import type { ActivityWiring } from './job-activities.ts';

/** Wires the activities of site indexing with the real clients and stores. */
export function createIndexActivities(wiring: ActivityWiring): SiteActivities {
  const { config, stores, clients, instrument = uninstrumented } = wiring;
  const activities = createSiteActivities({
    ...clients,
    ...stores,
    attempt: createAttempt({ redact: createRedactor(secretsOf(config)) }),
    directory: join(config.workDirectory, 'indexes'),
    siteDirectories: config.siteDirectories,
  });
  return instrument('activities', activities);
}
