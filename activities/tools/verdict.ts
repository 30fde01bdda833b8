import type { FailureType } from '../../workflows/contract/failures.ts';

/** What an activity does about an error. */
export interface Verdict {
  category: FailureType;
  /** A sentence without secrets, ids of others or quotes of what a server said. */
  message: string;
  /** Failures of this kind that are retried before the job fails: 0 is none, null is not counted and never the end. */
  tolerated: number | null;
  retryAfterMs: number | null;
}
