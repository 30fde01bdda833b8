import type { Source } from '../../db/sites/threads.ts';

/** A passage that retrieval found, as v1 clients see it in the `search` tool's result. */
export interface RetrievedResult {
  content: string;
  path: string;
  url: string;
  title: string;
}

export interface ReplyUsage {
  promptTokens: number;
  completionTokens: number;
}

/** What a reply is made of, in order: sources before the text that cites them. A failure ends it. */
export type ReplyPart =
  | { type: 'source'; source: Source }
  | { type: 'text'; text: string }
  | { type: 'failure'; message: string };

/** Takes the next part. Null while more may come at once; else nothing more may come before it resolves. */
export type TakePart = (part: ReplyPart) => Promise<void> | null;

/** A reply that has begun. */
export interface Reply {
  messageId: string;
  threadId: string;
  question: string;
  /** What was retrieved before the model was asked. */
  results: RetrievedResult[];
  /**
   * Runs the model and hands on each part as it comes, without a promise of its own. Resolves when the reply has ended and
   * is stored. Errors are `failure` parts; it never rejects.
   */
  run(take: TakePart): Promise<void>;
  /** Tokens so far; whole once `run` has ended. */
  usage(): ReplyUsage;
}

/** Turns the parts of a reply into the text of a wire format. Pure: no I/O, no clock. */
export interface StreamEncoder {
  /** Before the first part. */
  open(): string;
  part(part: ReplyPart): string;
  /** The regular end, in pieces to be written `pauseMs` apart. */
  close(usage: ReplyUsage): string[];
}

/** Pause between the pieces of a stream's end: some v4 clients lose a whole network read to its last line. */
export const closePauseMs = 25;
