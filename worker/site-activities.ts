import { join } from 'node:path';
import { createAttempt } from '../activities/attempt.ts';
import { createSiteActivities, type SiteActivities } from '../activities/sites/site-index.ts';
import { uninstrumented } from './instrument.ts';
import type { ActivityWiring } from './job-activities.ts';

/** Wires the activities of site indexing with the real clients and stores. */
export function createIndexActivities(wiring: ActivityWiring): SiteActivities {
  const { config, stores, clients, secrets, instrument = uninstrumented } = wiring;
  const activities = createSiteActivities({
    ...clients,
    ...stores,
    secrets,
    attempt: createAttempt({ redact: secrets.redact }),
    directory: join(config.workDirectory, 'indexes'),
  });
  return instrument('activities', activities);
}
