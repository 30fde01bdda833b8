import { z } from 'zod';

export const jobStatuses = ['active', 'completed', 'archived', 'failed'] as const;
/** The public states of a job (spec, "States and transitions"). */
export const jobStatusSchema = z.enum(jobStatuses);
export type JobStatus = z.infer<typeof jobStatusSchema>;

export const jobPhases = ['queued', 'preparing', 'running', 'publishing'] as const;
/** The finer phase of an active job; null once it has ended. */
export type JobPhase = (typeof jobPhases)[number];

/** What the workflow of one turn is started with. Ids only: nothing here may hold a prompt or a secret. */
export interface JobInput {
  jobId: string;
  turn: number;
  limits: JobLimits;
  /** Where the loop stands after a continue-as-new; absent on the first run of a turn. */
  progress?: JobProgress;
}

export interface JobLimits {
  maxSteps: number;
  /** Input and output tokens of all steps of the turn together. */
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
  /** The step that the turn begins with, when the ones before it were taken over from another job. */
  firstStep?: number;
}

/** What `prepare` tells the workflow of a turn that goes on from a step of another job. */
export interface PreparedTurn {
  firstStep: number;
}

export interface TokenUsage {
  inputTokens: number;
  outputTokens: number;
}

/** How a turn ended. An expected ending is a value, a failed run carries its category. */
export type JobOutcome =
  | { kind: 'published'; prLink: string }
  | { kind: 'no-changes' }
  | { kind: 'failed'; category: string; message: string };

/** Identifies a step: one model call and the tool calls it asked for. Steps count from 1 within a turn. */
export interface StepRef {
  jobId: string;
  turn: number;
  step: number;
}

/** What `callModel` is asked with. */
export interface ModelCall extends StepRef {
  /** Calls that the step limit leaves, this one included. */
  callsLeft?: number;
  /** The limit that lets no further call follow: the model can only finish. */
  lastBefore?: string | null;
}

/** What `runTools` is asked with. */
export interface ToolBatch extends StepRef {
  /** The limit that lets no further call of the model follow. */
  lastBefore?: string | null;
}

/** A turn that is stopped before its agent is done: why, in a sentence for a person. */
export interface StoppedTurn extends TurnRef {
  category: string;
  message: string;
}

export interface TurnRef {
  jobId: string;
  turn: number;
}

/** What `callModel` tells the workflow; the answer itself is in the step's row. Under 2 KB. */
export interface ModelStep {
  toolCallCount: number;
  finishReason: string;
  usage: TokenUsage;
  /** Whether somebody said something that the model has not read yet; absent in older histories. */
  hasMessages?: boolean;
  /** Whether the last answer before a limit ended the turn without saying that the task is done; absent in older histories. */
  isUnfinished?: boolean;
}

/** What `runTools` tells the workflow. */
export interface ToolStep {
  /** Whether the batch held the call that ends the turn, and nobody has said anything since. */
  finished: boolean;
  /** Whether a part of the task is not done: the agent says so, or a limit made it finish. Absent in older histories. */
  isUnfinished?: boolean;
  changedFiles: number;
}
