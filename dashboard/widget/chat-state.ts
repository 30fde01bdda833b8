import type { Mark, Source } from './answer/answer-events.ts';

export interface Vote {
  vote: 'up' | 'down';
  reasons?: string[];
  comment?: string | null;
}

export interface ChatMessage {
  id: string;
  role: 'user' | 'assistant';
  /** The question, or the answer so far as Markdown. */
  text: string;
  sources: Source[];
  /** Passages behind the sentences of the answer, and facts that its sources do not contain. */
  marks: Mark[];
  /** Topics to ask about next. */
  followUps: string[];
  vote: Vote | null;
}

/** Parts of an answer other than its text and sources. */
export type AnswerAdditions = Pick<ChatMessage, 'marks' | 'followUps' | 'vote'>;

/** `submitted` until the first event of the answer, then `streaming`. */
export type ChatStatus = 'ready' | 'submitted' | 'streaming' | 'error';

export interface ChatState {
  messages: ChatMessage[];
  status: ChatStatus;
  /** Why the last answer failed, as a sentence for the reader. */
  error: string | null;
  threadId: string | null;
}
