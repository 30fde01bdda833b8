import type { Pool } from 'pg';
import type { StepRef, TokenUsage, TurnRef } from '../workflows/contract/job.ts';

export interface ToolCall {
  toolCallId: string;
  toolName: string;
  /** As the model gave it: an object, or the text that did not parse (see `invalid`). */
  input: unknown;
  /** Set when the call names no tool or its input does not fit; the sentence the model gets back. */
  invalid?: string;
}

/** A model's answer as it is stored: enough to continue the conversation and to replay the step. */
export interface StepResponse {
  /** Content parts of the assistant message in the AI SDK's ModelMessage form (text, reasoning, tool-call), with provider options kept. */
  content: unknown[];
  text: string;
  toolCalls: ToolCall[];
}

export interface ToolResult {
  toolCallId: string;
  toolName: string;
  output: string;
  isError: boolean;
}

export interface StepRow {
  jobId: string;
  turn: number;
  step: number;
  fence: number;
  response: StepResponse | null;
  finishReason: string | null;
  usage: TokenUsage;
  toolResults: ToolResult[] | null;
  tree: string | null;
  modelFailures: number;
}

export interface Snapshot {
  tree: string;
  commit: string;
  baseCommit: string;
  pack: Buffer;
  patch: string;
  changedFiles: number;
}

export interface StepStore {
  /** Takes the step for this attempt: makes the row when new, raises its fence, and answers what is stored. */
  claim(ref: StepRef): Promise<StepRow>;
  /** Stores the answer if the fence is still ours and none is stored; false says another attempt took over. */
  storeResponse(
    ref: StepRef & { fence: number; requestHash: string; response: StepResponse; finishReason: string; usage: TokenUsage },
  ): Promise<boolean>;
  /** Stores results and, when files changed, the snapshot, in one transaction; compares the fence as above. */
  storeResults(ref: StepRef & { fence: number; results: ToolResult[]; tree: string; snapshot: Snapshot | null }): Promise<boolean>;
  /** Counts a provider failure across attempts and answers the new count. Temporal's attempts also count kills. */
  countModelFailure(ref: StepRef): Promise<number>;
  /** All steps of a job up to and with the turn, in order. */
  list(jobId: string, turn: number): Promise<StepRow[]>;
  /** The newest tree of the job, null while nothing has changed since the base commit. */
  latestTree(jobId: string): Promise<string | null>;
  snapshot(jobId: string, tree: string): Promise<Snapshot | null>;
  /** The newest patch (`text/x-diff`) of a job; null when it changed nothing. */
  latestPatch(jobId: string): Promise<string | null>;
}

export interface EffectStore {
  /** Raises and answers the fence of one outside effect of a turn, with what an earlier attempt stored. */
  claim(ref: TurnRef & { effect: string }): Promise<{ fence: number; result: unknown }>;
  /** Compare-and-check immediately before acting; false: a newer attempt owns the effect. */
  holds(ref: TurnRef & { effect: string; fence: number }): Promise<boolean>;
  storeResult(ref: TurnRef & { effect: string; fence: number; result: unknown }): Promise<boolean>;
  countFailure(ref: TurnRef & { effect: string }): Promise<number>;
}

export declare function createStepStore(pool: Pool): StepStore;
export declare function createEffectStore(pool: Pool): EffectStore;
