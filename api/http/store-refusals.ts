import { ConnectionShareError } from '../../db/fair-pool.ts';
import { AllowanceError } from '../../db/operations/rate-limits.ts';
import { SlowReadError } from '../../db/pool.ts';
import { passedQuota } from '../../db/organizations/quotas.ts';
import { ImagesFullError } from '../../db/jobs/job-images.ts';
import { SnapshotRemovedError, TranscriptRemovedError } from '../../db/jobs/snapshot-removed.ts';
import { codeOf } from '../../lib/error-code.ts';
import { isStoreDown } from '../../db/store-down.ts';
import { ApiError, connectionsTaken, readTooSlow, storeUnavailable, tooManyRequests } from './errors.ts';
import { quotaReached } from '../access/quotas.ts';
import { rateLimitFields } from '../access/rate-limit-fields.ts';

/** PostgreSQL error code for a foreign-key violation: the row's parent does not exist. */
const foreignKeyViolation = '23503';

/** Returns the client-facing error for an error of the stores, or null for an unexpected one. */
export function refusalOfStore(error: unknown): ApiError | null {
  const quota = passedQuota(error);
  if (quota !== null) return quotaReached(quota);
  if (error instanceof AllowanceError) return tooManyRequests(error.answer.resetSeconds, rateLimitFields([error]));
  if (error instanceof SnapshotRemovedError || error instanceof TranscriptRemovedError)
    return new ApiError(409, error.message);
  if (error instanceof ImagesFullError) return new ApiError(409, error.message);
  if (error instanceof ConnectionShareError) return connectionsTaken();
  if (error instanceof SlowReadError) return readTooSlow();
  if (codeOf(error) === foreignKeyViolation)
    return new ApiError(404, 'The parent resource was deleted in the meantime.');
  return isStoreDown(error) ? storeUnavailable() : null;
}
