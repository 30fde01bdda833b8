import type { Pool } from 'pg';
import { createAccessStore } from '../db/for-service/access.ts';
import { createDueChoreStore } from '../db/for-service/due-chores.ts';
import { createEvaluationRunStore } from '../db/for-service/evaluation-runs.ts';
import { createGapCheckStore } from '../db/for-service/gap-checks.ts';
import { createIndexChangeStore } from '../db/for-service/index-changes.ts';
import { createOperationRollups } from '../db/for-service/operation-rollups.ts';
import { createSessionLookup } from '../db/for-service/session-lookup.ts';
import { createSiteRollups } from '../db/for-service/site-rollups.ts';
import { createSweeps } from '../db/for-service/sweeps.ts';
import type { ApiConfig } from './config.ts';

export type ServiceStores = ReturnType<typeof createServiceStores>;

/**
 * Creates the stores that an API process uses across all organizations, to authenticate requests and for background
 * work. No route receives them except sign-in, which determines the organization.
 */
export function createServiceStores({ pool, config }: { pool: Pool; config: Pick<ApiConfig, 'keyPepper'> }) {
  return {
    signedIn: createSessionLookup(pool, config.keyPepper),
    access: createAccessStore(pool),
    gapChecks: createGapCheckStore(pool),
    dueChores: createDueChoreStore(pool),
    indexChanges: createIndexChangeStore(pool),
    sweeps: createSweeps(pool),
    rollups: createOperationRollups(pool),
    siteRollups: createSiteRollups(pool),
    evaluationRuns: createEvaluationRunStore(pool),
  };
}
