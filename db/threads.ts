import type { Pool } from 'pg';

export interface Source {
  id: string;
  url: string;
  title: string;
  path: string;
}

export interface ThreadMessage {
  id: string;
  role: 'user' | 'assistant';
  content: string;
  sources: Source[];
  answered: boolean | null;
  createdAt: Date;
}

export interface Thread {
  id: string;
  siteId: string;
  createdAt: Date;
  messages: ThreadMessage[];
}

export interface ThreadStore {
  /** The id when the thread exists and is this site's and organization's, else a fresh id (nothing is written yet). */
  resolve(request: { threadId: string | null; siteId: string; organizationId: string }): Promise<{ threadId: string; isNew: boolean }>;
  /** Writes a turn of a conversation (question and answer) in one transaction, making the thread when it is new. */
  recordTurn(turn: {
    threadId: string;
    siteId: string;
    organizationId: string;
    fp: string;
    question: { id: string; content: string; currentPath: string | null };
    answer: {
      id: string;
      content: string;
      sources: Source[];
      model: string;
      answered: boolean;
      ending: 'finished' | 'failed' | 'aborted';
      firstTokenMs: number | null;
      durationMs: number;
    };
  }): Promise<void>;
  /** Null when unknown or of another organization. */
  get(organizationId: string, threadId: string): Promise<Thread | null>;
  /** False when unknown or of another organization. */
  remove(organizationId: string, threadId: string): Promise<boolean>;
  /** Deletes what is older than its site's retention; answers how many threads went. */
  sweep(): Promise<number>;
}

export declare function createThreadStore(pool: Pool): ThreadStore;
