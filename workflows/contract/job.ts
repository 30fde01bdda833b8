import { z } from 'zod';

const jobStatuses = ['active', 'completed', 'archived', 'failed'] as const;
/** Public states of a job (spec, "States and transitions"). */
export const jobStatusSchema = z.enum(jobStatuses);
export type JobStatus = z.infer<typeof jobStatusSchema>;

export const jobPhases = ['queued', 'preparing', 'running', 'publishing', 'waiting'] as const;
/** Finer phase of an active job; null once it has ended. `waiting`: its turn is over, and a person decides what follows. */
export type JobPhase = (typeof jobPhases)[number];

/** Input of the workflow of one turn. Contains ids only, never a prompt or a secret. */
export interface JobInput {
  jobId: string;
  turn: number;
  limits: JobLimits;
  /** Progress of the loop at a continue-as-new; absent on the first run of a turn. */
  progress?: JobProgress;
}

export interface JobLimits {
  maxSteps: number;
  /** Input and output tokens of all steps of the turn combined. */
  maxTokens: number;
  /** Wall time of the turn, in milliseconds. */
  maxDurationMs: number;
}

export interface JobProgress {
  step: number;
  tokens: number;
  /** Tokens of the largest call so far; absent in older histories. */
  largestCall?: number;
  startedAtMs: number;
  /** Whether the agent has finished before and reviews its change. */
  isReviewing?: boolean;
  /** First step of the turn, when earlier steps were taken over from another job. */
  firstStep?: number;
}

/** Result of `prepare` for a turn that continues from a step of another job. */
export interface PreparedTurn {
  firstStep: number;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** Outcome of a turn. An expected outcome is a value; a failed run carries its category. */
export type JobOutcome =
  | { kind: 'published'; prLink: string }
  | { kind: 'no-changes' }
  /** The turn ended with a plan or a question; the job waits for a person without an execution. */
  | { kind: 'waiting' }
  | { kind: 'failed'; category: string; message: string };

/** Identifies a step: one model call and the tool calls it requested. Steps count from 1 within a turn. */
export interface StepRef {
  jobId: string;
  turn: number;
  step: number;
}

/** Input of `runStep`. */
export interface ModelCall extends StepRef {
  /** Calls left under the step limit, including this one. */
  callsLeft?: number;
  /** Limit that rules out any further call, so that the model can only finish. */
  lastBefore?: string | null;
}

/** Input of `runTools`, the second activity of a step in executions that began before `runStep`. */
export interface ToolBatch extends StepRef {
  /** Limit that rules out any further model call. */
  lastBefore?: string | null;
  /** Calls left under the step limit, including this one. */
  callsLeft?: number;
}

/** A turn that was stopped before its agent finished, with the reason as a sentence for users. */
export interface StoppedTurn extends TurnRef {
  category: string;
  message: string;
}

export interface TurnRef {
  jobId: string;
  turn: number;
}

/** A turn whose work is done, unless a message lets it continue. */
export interface WorkedTurn extends TurnRef {
  /** Last step of the work: once a later one has begun, the turn has continued. Absent for failures and in older histories. */
  step?: number;
}

/** A turn with its outcome. */
export interface EndedTurn extends WorkedTurn {
  outcome: JobOutcome;
  /** Whether the limits leave no room to act on a message, which then begins the next turn. Absent in older histories. */
  isOver?: boolean;
}

/** Result of a step's model call, under 2 KB; the answer itself is in the step's row. */
export interface ModelStep {
  toolCallCount: number;
  finishReason: string;
  usage: TokenUsage;
  /** Whether messages have arrived that the model has not read yet; absent in older histories. */
  hasMessages?: boolean;
  /**
   * Whether the last answer before a limit ended the turn without reporting the task as done; absent in older
   * histories.
   */
  isUnfinished?: boolean;
}

/** Result of a step's tool calls. */
export interface ToolStep {
  /** Whether the batch contained the call that ends the turn and no message has arrived since. */
  finished: boolean;
  /**
   * Whether part of the task is incomplete, because the agent said so or a limit forced it to finish. Absent in older
   * histories.
   */
  isUnfinished?: boolean;
  /** Whether the agent had finished and reviews its change next. Absent in older histories. */
  isReviewing?: boolean;
  changedFiles: number;
}

/** Result of `runStep`. */
export interface StepResult extends ModelStep {
  /** Absent when the model called no tool. */
  tools?: ToolStep;
}
