import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow';
import type { JobOutcome } from './contract/job.ts';
import { FailureType, failureOf, isFailureType } from './contract/failures.ts';
import type { JobLimits } from './contract/job.ts';
import type { JobState } from './job-state.ts';

export type FailedOutcome = Extract<JobOutcome, { kind: 'failed' }>;

/**
 * Returns the outcome of a turn that ended with an error. `wasCancelled` separates a cancel from a reached time limit.
 */
export function outcomeOfFailure(error: Error, wasCancelled: boolean): FailedOutcome {
  if (isCancellation(error)) return failed(wasCancelled ? FailureType.Cancelled : FailureType.TimeLimit);
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && isFailureType(cause.type)) return failed(cause.type, cause.message);
  const isUnpublished =
    cause instanceof TimeoutFailure && error instanceof ActivityFailure && error.activityType === 'publish';
  return failed(FailureType.Internal, isUnpublished ? unpublished : null);
}

/** Returns the failure that ends a run at a limit; its message names the limit. */
export function limitFailure(category: FailureType, state: JobState, limits: JobLimits): ApplicationFailure {
  return ApplicationFailure.nonRetryable(limitSentence(category, state, limits), category);
}

/** Returns the message for a turn that used up its wall time. */
export function timeSentence({ maxDurationMs }: JobLimits): string {
  const minutes = Math.round(maxDurationMs / 6_000) / 10;
  return `The agent was stopped at its limit of ${minutes} ${minutes === 1 ? 'minute' : 'minutes'} (DOCKET_MAX_JOB_MINUTES).`;
}

function limitSentence(category: FailureType, { tokens }: JobState, limits: JobLimits): string {
  if (category === FailureType.StepLimit)
    return `The agent was stopped at its limit of ${limits.maxSteps} steps (DOCKET_MAX_STEPS).`;
  if (category === FailureType.BudgetLimit)
    return `The agent was stopped at its limit of ${limits.maxTokens} tokens (DOCKET_MAX_TOKENS); it used ${tokens}.`;
  return timeSentence(limits);
}

const keptAfter: ReadonlySet<string> = new Set([
  FailureType.StepLimit,
  FailureType.BudgetLimit,
  FailureType.TimeLimit,
  FailureType.NoProgress,
  FailureType.ModelRefused,
  FailureType.ModelUnavailable,
]);

/** Reports whether the agent's work so far is published as a draft after this failure. Never true after a cancel. */
export function keepsWork({ category }: FailedOutcome): boolean {
  return keptAfter.has(category);
}

/** Nobody has refused anything: attempts hung, or found no worker. */
const unpublished =
  'The change was not published in time, because the forge did not answer or no worker was free. A follow-up message publishes it.';

function failed(category: FailureType, message: string | null = null): FailedOutcome {
  return { kind: 'failed', category, message: message ?? `${failureOf(category).title}.` };
}
