import { ActivityFailure, ApplicationFailure, TimeoutFailure, isCancellation } from '@temporalio/workflow';
import type { JobOutcome } from './contract/job.ts';
import { FailureType, failureOf, isFailureType } from './contract/failures.ts';
import type { JobLimits } from './contract/job.ts';
import type { JobState } from './job-state.ts';

export type FailedOutcome = Extract<JobOutcome, { kind: 'failed' }>;

/** What is recorded about a turn that ended with an error; `wasCancelled` tells a cancel from a spent time limit. */
export function outcomeOfFailure(error: Error, wasCancelled: boolean): FailedOutcome {
  if (isCancellation(error)) return failed(wasCancelled ? FailureType.Cancelled : FailureType.TimeLimit);
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (cause instanceof ApplicationFailure && isFailureType(cause.type)) return failed(cause.type, cause.message);
  if (cause instanceof TimeoutFailure && error instanceof ActivityFailure) return failed(timeoutCategory(error));
  return failed(FailureType.Internal);
}

/** The failure that ends a run at a limit; its message says which one. */
export function limitFailure(category: FailureType, state: JobState, limits: JobLimits): ApplicationFailure {
  return ApplicationFailure.nonRetryable(limitSentence(category, state, limits), category);
}

/** What is told about a turn that spent its wall time. */
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

/** Whether what the agent has done so far is published as a draft when the turn fails so. Never after a cancel. */
export function keepsWork({ category }: FailedOutcome): boolean {
  return keptAfter.has(category);
}

function timeoutCategory({ activityType }: ActivityFailure): FailureType {
  return activityType === 'publish' ? FailureType.PushRejected : FailureType.Internal;
}

function failed(category: FailureType, message: string | null = null): FailedOutcome {
  return { kind: 'failed', category, message: message ?? `${failureOf(category).title}.` };
}
