import type { FailureType } from '../../workflows/contract/failures.ts';

/** How an activity handles an error. */
export interface Verdict {
  category: FailureType;
  /** A sentence without secrets, foreign ids or quotes from a server. */
  message: string;
  /** Number of retries before the job fails: 0 for none, null for failures that are not counted and never end a job. */
  tolerated: number | null;
  retryAfterMs: number | null;
}
