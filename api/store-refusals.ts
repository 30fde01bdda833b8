import { ConnectionShareError } from '../db/fair-pool.ts';
import { SlowReadError } from '../db/pool.ts';
import { passedQuota } from '../db/quotas.ts';
import { isStoreDown } from '../db/store-down.ts';
import { type ApiError, connectionsTaken, readTooSlow, storeUnavailable } from './errors.ts';
import { quotaReached } from './quotas.ts';

/** What a client reads of an error of the stores; null: it is not one that they expect. */
export function refusalOfStore(error: unknown): ApiError | null {
  const quota = passedQuota(error);
  if (quota !== null) return quotaReached(quota);
  if (error instanceof ConnectionShareError) return connectionsTaken();
  if (error instanceof SlowReadError) return readTooSlow();
  return isStoreDown(error) ? storeUnavailable() : null;
}
