import type { Pool } from 'pg';
import { createAccessStore } from '../db/for-service/access.ts';
import { createGapCheckStore } from '../db/for-service/gap-checks.ts';
import { createSessionLookup } from '../db/for-service/session-lookup.ts';
import { createSweeps } from '../db/for-service/sweeps.ts';
import type { ApiConfig } from './config.ts';

export type ServiceStores = ReturnType<typeof createServiceStores>;

/**
 * What an API process does of its own accord, for all organizations: who a request acts for, and the chores. No route gets them,
 * but for signing in, which is how an organization comes about.
 */
export function createServiceStores({ pool, config }: { pool: Pool; config: Pick<ApiConfig, 'keyPepper'> }) {
  return {
    signedIn: createSessionLookup(pool, config.keyPepper),
    access: createAccessStore(pool),
    gapChecks: createGapCheckStore(pool),
    sweeps: createSweeps(pool),
  };
}
