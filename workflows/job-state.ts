import type { JobInput, JobLimits, JobProgress, ModelStep, ToolStep } from './contract/job.ts';
import { FailureType } from './contract/failures.ts';

/** The end of a turn's wall time that is kept for its last call. */
const longestWindDownMs = 90_000;

/** Where a turn stands: what has to happen next, and what it has used up. */
export interface JobState extends JobProgress {
  /** `asking`: the model is to be called for `step`; `acting`: the tool calls of `step` are to be run. */
  stage: 'preparing' | 'asking' | 'acting' | 'publishing';
  largestCall: number;
}

export type JobEvent =
  | { kind: 'prepared'; firstStep?: number }
  | { kind: 'answered'; answer: ModelStep }
  | { kind: 'tools-ran'; result: ToolStep }
  | { kind: 'message-arrived' };

/** The state a run begins with: a fresh turn prepares, a continued one goes on at its step boundary. */
export function initialState(input: JobInput, nowMs: number): JobState {
  if (input.progress !== undefined) return { largestCall: 0, ...input.progress, stage: 'asking' };
  return { stage: 'preparing', step: 1, tokens: 0, largestCall: 0, startedAtMs: nowMs };
}

/** The state after an event. An answer without tool calls and a `finish` call both end the loop, unless a message waits. */
export function advance(state: JobState, event: JobEvent): JobState {
  switch (event.kind) {
    case 'prepared': {
      const { firstStep } = event;
      return firstStep === undefined
        ? { ...state, stage: 'asking' }
        : { ...state, stage: 'asking', step: firstStep, firstStep };
    }
    case 'answered': {
      const { usage, toolCallCount, finishReason, hasMessages = false } = event.answer;
      const used = usage.inputTokens + usage.outputTokens;
      const largestCall = Math.max(state.largestCall, used);
      const answered = { ...state, tokens: state.tokens + used, largestCall };
      if (toolCallCount > 0) return { ...answered, stage: 'acting' };
      // words that were cut off in the middle end nothing
      const goesOn = hasMessages || finishReason === 'length';
      return goesOn ? nextStep(answered) : { ...answered, stage: 'publishing' };
    }
    case 'tools-ran':
      return event.result.finished ? { ...state, stage: 'publishing' } : nextStep(state);
    case 'message-arrived':
      return nextStep(state);
    default:
      return assertNever(event);
  }
}

function nextStep(state: JobState): JobState {
  return { ...state, stage: 'asking', step: state.step + 1 };
}

/** The limits as they are for this turn: steps that were taken over from another job use up none. */
export function limitsOf(limits: JobLimits, { firstStep = 1 }: JobState): JobLimits {
  return { ...limits, maxSteps: limits.maxSteps + firstStep - 1 };
}

/** The limit that forbids another model call, or null. Money and steps overshoot by at most one call. */
export function reachedLimit(state: JobState, limits: JobLimits, nowMs: number): FailureType | null {
  if (remainingMs(state, limits, nowMs) <= 0) return FailureType.TimeLimit;
  if (state.step > limits.maxSteps) return FailureType.StepLimit;
  if (state.tokens >= limits.maxTokens) return FailureType.BudgetLimit;
  return null;
}

/**
 * The limit that will forbid the call after the next one, or null: the next call is the last, and can only finish. A call
 * is expected to need as many tokens as the largest so far. A turn of one step has no step to finish in.
 */
export function limitAfter(state: JobState, limits: JobLimits, nowMs: number): FailureType | null {
  if (state.step === limits.maxSteps && state.step > 1) return FailureType.StepLimit;
  if (state.largestCall > 0 && state.tokens + 2 * state.largestCall > limits.maxTokens) return FailureType.BudgetLimit;
  const windDownMs = Math.min(longestWindDownMs, limits.maxDurationMs / 10);
  return remainingMs(state, limits, nowMs) <= windDownMs ? FailureType.TimeLimit : null;
}

/** Wall time the turn has left. */
export function remainingMs(state: JobState, limits: JobLimits, nowMs: number): number {
  return state.startedAtMs + limits.maxDurationMs - nowMs;
}

/** What a continue-as-new carries. */
export function progressOf({ step, tokens, largestCall, startedAtMs, firstStep }: JobState): JobProgress {
  return { step, tokens, largestCall, startedAtMs, firstStep };
}

function assertNever(event: never): never {
  throw new TypeError(`Unknown event: ${JSON.stringify(event)}`);
}
