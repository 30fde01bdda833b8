import type { Failure } from '../../workflows/contract/failures.ts';
import type { JobPhase, TokenUsage } from '../../workflows/contract/job.ts';

export const jobEventTypes = [
  'message',
  'phase',
  'step-start',
  'text',
  'tool-call',
  'usage',
  'output',
  'tool-result',
  'diff',
  'notice',
  'waiting',
  'finish',
  'failure',
] as const;
export type JobEventType = (typeof jobEventTypes)[number];

/** Content of an event by type. `finish` and `failure` end a turn. */
export interface JobEventData {
  /** A message to the job; `text` is its beginning, `characters` its whole length. */
  message: { text: string; characters: number };
  phase: { phase: JobPhase };
  /** A call of the model starts. A further one for the same step invalidates the text before it. */
  'step-start': { attempt: number };
  /** A part of the model's answer while it streams; `offset` counts characters within the attempt. */
  text: { attempt: number; offset: number; text: string };
  'tool-call': { toolCallId: string; toolName: string; input: unknown };
  /** `costUsd` is null when the price of the model is unknown. */
  usage: TokenUsage & { costUsd: number | null; finishReason: string };
  /**
   * A part of what a command prints while it runs: of a call, of the project's check command within `finish`, or outside
   * of steps, where `toolCallId` is null. `offset` counts characters, those left out included. The first event is empty;
   * the last one has the duration. Removed once the result is stored.
   */
  output: { attempt: number; toolCallId: string | null; offset: number; text: string; durationMs: number | null };
  /** `output` is the beginning of the output, `characters` its whole length. */
  'tool-result': { toolCallId: string; toolName: string; isError: boolean; output: string; characters: number };
  /** The job's change so far, relative to its base commit. */
  diff: { changedFiles: number; additions: number; deletions: number; files: string[] };
  /** A notice for a person about how the job is worked on. */
  notice: { text: string };
  /** The turn is over, and a person decides what follows. `plan` is the beginning of the plan. */
  waiting: {
    for: 'approval' | 'answer';
    plan: string | null;
    question: string | null;
    choices: string[];
    until: string;
  };
  finish: { title: string | null; message: string | null; prLink: string | null };
  failure: Failure & { message: string | null };
}

/** An event as it is appended; the log adds its number and time. */
export type NewJobEvent = { [Type in JobEventType]: { type: Type; data: JobEventData[Type] } }[JobEventType];
