import type { Source } from '../../db/sites/threads.ts';
import type { TokenUsage } from '../../workflows/contract/job.ts';
import type { Citation } from './citations/citations.ts';

/** A retrieved passage, in the form v1 clients receive as the `search` tool's result. */
export interface RetrievedResult {
  content: string;
  path: string;
  url: string;
  title: string;
}

/** One part of a reply. A source precedes the text that cites it, citations and follow-ups follow it; a failure ends the reply. */
export type ReplyPart =
  | { type: 'source'; source: Source }
  | { type: 'text'; text: string }
  | { type: 'citations'; citations: Citation[] }
  | { type: 'follow-ups'; questions: string[] }
  | { type: 'failure'; message: string };

/** Accepts the next part. Returns null when the next one may follow at once, or a promise to await first. */
export type TakePart = (part: ReplyPart) => Promise<void> | null;

/** A reply that has been started. */
export interface Reply {
  messageId: string;
  threadId: string;
  question: string;
  /** Query that was searched for instead of the question; null if the question was. */
  searchQuery: string | null;
  /** Passages retrieved before the first model call. */
  results: RetrievedResult[];
  /**
   * Runs the model and forwards each part as it arrives, without allocating a promise per part. Resolves when the reply
   * has ended and is stored. Errors become `failure` parts; it never rejects.
   */
  run(take: TakePart): Promise<void>;
  /** Returns the tokens used so far. The count is complete once `run` has resolved. */
  usage(): TokenUsage;
  /** Returns the model of the latest call, as `provider/model`. */
  modelName(): string;
  /** Reports whether the latest call would exceed the site's daily budget even if nothing were spent. */
  exceedsBudget(): boolean;
  /** Returns the cost so far, in millionths of a US dollar; 0 for a model without a price. */
  costMicros(): number;
}

/** Encodes the parts of a reply in a wire format. It performs no I/O and reads no clock. */
export interface StreamEncoder {
  /** Returns the text to send before the first part. */
  open(): string;
  part(part: ReplyPart): string;
  /** Returns the regular end of the stream, in chunks to be written `closePauseMs` apart. */
  close(usage: TokenUsage): string[];
}

/** Pause between the chunks of a stream's end: some v4 clients lose an entire network read because of its last line. */
export const closePauseMs = 25;
