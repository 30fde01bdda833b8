import type { JobInput, JobLimits, JobProgress, ModelStep, ToolStep } from './contract/job.ts';
import { FailureType } from './contract/failures.ts';

/** Where a turn stands: what has to happen next, and what it has used up. */
export interface JobState extends JobProgress {
  /** `asking`: the model is to be called for `step`; `acting`: the tool calls of `step` are to be run. */
  stage: 'preparing' | 'asking' | 'acting' | 'publishing';
}

export type JobEvent =
  | { kind: 'prepared' }
  | { kind: 'answered'; answer: ModelStep }
  | { kind: 'tools-ran'; result: ToolStep }
  | { kind: 'message-arrived' };

/** The state a run begins with: a fresh turn prepares, a continued one goes on at its step boundary. */
export function initialState(input: JobInput, nowMs: number): JobState {
  if (input.progress !== undefined) return { ...input.progress, stage: 'asking' };
  return { stage: 'preparing', step: 1, tokens: 0, startedAtMs: nowMs };
}

/** The state after an event. An answer without tool calls and a `finish` call both end the loop, unless a message waits. */
export function advance(state: JobState, event: JobEvent): JobState {
  switch (event.kind) {
    case 'prepared':
      return { ...state, stage: 'asking' };
    case 'answered': {
      const { usage, toolCallCount, hasMessages = false } = event.answer;
      const answered = { ...state, tokens: state.tokens + usage.inputTokens + usage.outputTokens };
      if (toolCallCount > 0) return { ...answered, stage: 'acting' };
      return hasMessages ? nextStep(answered) : { ...answered, stage: 'publishing' };
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

/** The limit that forbids another model call, or null. Money and steps overshoot by at most one call. */
export function reachedLimit(state: JobState, limits: JobLimits, nowMs: number): FailureType | null {
  if (remainingMs(state, limits, nowMs) <= 0) return FailureType.TimeLimit;
  if (state.step > limits.maxSteps) return FailureType.StepLimit;
  if (state.tokens >= limits.maxTokens) return FailureType.BudgetLimit;
  return null;
}

/** Wall time the turn has left. */
export function remainingMs(state: JobState, limits: JobLimits, nowMs: number): number {
  return state.startedAtMs + limits.maxDurationMs - nowMs;
}

/** What a continue-as-new carries. */
export function progressOf({ step, tokens, startedAtMs }: JobState): JobProgress {
  return { step, tokens, startedAtMs };
}

function assertNever(event: never): never {
  throw new TypeError(`Unknown event: ${JSON.stringify(event)}`);
}
