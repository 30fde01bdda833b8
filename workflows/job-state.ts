import type { JobInput, JobLimits, JobProgress, StepResult } from './contract/job.ts';
import { FailureType } from './contract/failures.ts';

/** Longest part of a turn's wall time that is reserved for its last call. */
const maxWindDownMs = 90_000;

/** State of a turn: its next stage, and what it has used of its limits. */
export interface JobState extends JobProgress {
  /** `running`: `step` is next. */
  stage: 'preparing' | 'running' | 'publishing';
  largestCall: number;
}

/** Returns the state of a turn whose review a limit or a failure has ended: the work was finished before it. */
export function reviewEnded(state: JobState): JobState {
  return { ...state, stage: 'publishing' };
}

export type JobEvent =
  | { kind: 'prepared'; firstStep?: number }
  | { kind: 'step-taken'; result: StepResult }
  | { kind: 'message-arrived' };

/** Returns the initial state of a run. A new turn starts by preparing; a continued one resumes at its step boundary. */
export function initialState(input: JobInput, nowMs: number): JobState {
  if (input.progress !== undefined) return { largestCall: 0, ...input.progress, stage: 'running' };
  return { stage: 'preparing', step: 1, tokens: 0, largestCall: 0, startedAtMs: nowMs };
}

/**
 * Returns the state after an event. An answer without tool calls or a `finish` call ends the loop, unless a message is
 * waiting.
 */
export function advance(state: JobState, event: JobEvent): JobState {
  switch (event.kind) {
    case 'prepared': {
      const { firstStep } = event;
      return firstStep === undefined
        ? { ...state, stage: 'running' }
        : { ...state, stage: 'running', step: firstStep, firstStep };
    }
    case 'step-taken': {
      const { usage, finishReason, hasMessages = false, tools } = event.result;
      const used = usage.inputTokens + usage.outputTokens;
      const largestCall = Math.max(state.largestCall, used);
      const taken = { ...state, tokens: state.tokens + used, largestCall };
      if (tools?.isReviewing === true) return nextStep({ ...taken, isReviewing: true });
      // a truncated answer does not end the turn
      const isEnd = tools === undefined ? !hasMessages && finishReason !== 'length' : tools.finished;
      return isEnd ? { ...taken, stage: 'publishing' } : nextStep(taken);
    }
    case 'message-arrived':
      return nextStep({ ...state, isReviewing: undefined });
    default:
      return assertNever(event);
  }
}

function nextStep(state: JobState): JobState {
  return { ...state, stage: 'running', step: state.step + 1 };
}

/** Returns the limits of this turn. Steps taken over from another job do not count toward the step limit. */
export function limitsOf(limits: JobLimits, { firstStep = 1 }: JobState): JobLimits {
  return { ...limits, maxSteps: limits.maxSteps + firstStep - 1 };
}

/** Returns the limit that rules out another model call, or null. Cost and steps overshoot by at most one call. */
export function reachedLimit(state: JobState, limits: JobLimits, nowMs: number): FailureType | null {
  if (remainingMs(state, limits, nowMs) <= 0) return FailureType.TimeLimit;
  if (state.step > limits.maxSteps) return FailureType.StepLimit;
  if (state.tokens >= limits.maxTokens) return FailureType.BudgetLimit;
  return null;
}

/**
 * Returns the limit that rules out the call after the next one, or null. The next call is then the last and can only
 * finish. A call is expected to need as many tokens as the largest one so far. A turn limited to one step has no step
 * to finish in.
 */
export function limitAfter(state: JobState, limits: JobLimits, nowMs: number): FailureType | null {
  if (state.step === limits.maxSteps && state.step > 1) return FailureType.StepLimit;
  if (state.largestCall > 0 && state.tokens + 2 * state.largestCall > limits.maxTokens) return FailureType.BudgetLimit;
  const windDownMs = Math.min(maxWindDownMs, limits.maxDurationMs / 10);
  return remainingMs(state, limits, nowMs) <= windDownMs ? FailureType.TimeLimit : null;
}

/** Reports whether the limits leave room to act on a message after this state: more than a call that can only finish. */
export function hasRoom(state: JobState, limits: JobLimits, nowMs: number): boolean {
  const next = nextStep(state);
  return reachedLimit(next, limits, nowMs) === null && limitAfter(next, limits, nowMs) === null;
}

/** Returns the wall time left in the turn. */
export function remainingMs(state: JobState, limits: JobLimits, nowMs: number): number {
  return state.startedAtMs + limits.maxDurationMs - nowMs;
}

/** Returns the progress that a continue-as-new carries over. */
export function progressOf(state: JobState): JobProgress {
  const { step, tokens, largestCall, startedAtMs, firstStep, isReviewing } = state;
  return { step, tokens, largestCall, startedAtMs, firstStep, isReviewing };
}

function assertNever(event: never): never {
  throw new TypeError(`Unknown event: ${JSON.stringify(event)}`);
}
