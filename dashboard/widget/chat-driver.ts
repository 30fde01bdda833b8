import type { ChatState, Vote } from './chat-state.ts';
import type { Passage, QuestionContext } from './client.ts';

/** State and actions of a chat, independent of how the conversation is stored. */
export interface ChatDriver extends ChatState {
  ask(question: string, context: QuestionContext[]): void;
  /** Replaces an earlier question and everything after it. */
  edit(messageId: string, question: string, context: QuestionContext[]): void;
  stop(): void;
  /** Rejects when the rating was not stored. */
  rate(messageId: string, vote: Vote): Promise<void>;
  clear(): void;
  search(query: string): Promise<Passage[]>;
  /** Returns the questions that the site offers to begin with. */
  starterQuestions(): Promise<string[]>;
}
