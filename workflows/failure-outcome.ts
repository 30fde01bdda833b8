import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow';
import type { JobOutcome } from './contract/job.ts';
import { FailureType, failureOf, isFailureType } from './contract/failures.ts';

export type FailedOutcome = Extract<JobOutcome, { kind: 'failed' }>;

/** What is recorded about a turn that ended with an error; `wasCancelled` tells a cancel from a spent time limit. */
export function outcomeOfFailure(error: Error, wasCancelled: boolean): FailedOutcome {
  if (isCancellation(error)) return failed(wasCancelled ? FailureType.Cancelled : FailureType.TimeLimit);
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && isFailureType(cause.type)) return failed(cause.type, cause.message);
  if (cause instanceof TimeoutFailure && error instanceof ActivityFailure) return failed(timeoutCategory(error));
  return failed(FailureType.Internal);
}

/** The failure that ends a run at a limit. */
export function limitFailure(category: FailureType): ApplicationFailure {
  return ApplicationFailure.nonRetryable(`${failureOf(category).title}.`, category);
}

function timeoutCategory({ activityType }: ActivityFailure): FailureType {
  return activityType === 'publish' ? FailureType.PushRejected : FailureType.Internal;
}

function failed(category: FailureType, message: string | null = null): FailedOutcome {
  return { kind: 'failed', category, message: message ?? `${failureOf(category).title}.` };
}
