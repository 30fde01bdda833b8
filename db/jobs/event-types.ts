import type { Failure } from '../../workflows/contract/failures.ts';
import type { JobPhase, TokenUsage } from '../../workflows/contract/job.ts';

export const jobEventTypes = [
  'message',
  'phase',
  'step-start',
  'text',
  'tool-call',
  'usage',
  'tool-result',
  'diff',
  'notice',
  'finish',
  'failure',
] as const;
export type JobEventType = (typeof jobEventTypes)[number];

/** What an event says, by its type. `finish` and `failure` end a turn. */
export interface JobEventData {
  /** Somebody said something to the job; `text` is the beginning, `characters` how long all of it is. */
  message: { text: string; characters: number };
  phase: { phase: JobPhase };
  /** A call of the model begins. A further one of the same step takes the text before it back. */
  'step-start': { attempt: number };
  /** A part of the model's answer while it streams; `offset` counts characters within the attempt. */
  text: { attempt: number; offset: number; text: string };
  'tool-call': { toolCallId: string; toolName: string; input: unknown };
  /** `costUsd` is null when the price of the model is not known. */
  usage: TokenUsage & { costUsd: number | null; finishReason: string };
  /** `output` is the beginning; `characters` says how long all of it is. */
  'tool-result': { toolCallId: string; toolName: string; isError: boolean; output: string; characters: number };
  /** What the job has changed so far, against the commit it began at. */
  diff: { changedFiles: number; additions: number; deletions: number; files: string[] };
  /** What a person should know about how the job is worked on. */
  notice: { text: string };
  finish: { title: string | null; message: string | null; prLink: string | null };
  failure: Failure & { message: string | null };
}

/** An event as it is appended; the log adds its number and time. */
export type NewJobEvent = { [Type in JobEventType]: { type: Type; data: JobEventData[Type] } }[JobEventType];
