import type { Pool } from 'pg';

export interface ReplyRow {
  id: string;
  siteId: string;
  chatId: string;
  keyId: string;
  threadId: string;
  protocol: 'v1' | 'v2';
  createdAt: Date;
  /** Seconds since the writer's last sign of life, on database time. */
  silentSeconds: number;
  endedAt: Date | null;
  delivered: boolean;
}

/** Bytes of running replies, so that any API process can resume one. */
export interface ReplyStore {
  create(reply: Pick<ReplyRow, 'id' | 'siteId' | 'chatId' | 'keyId' | 'threadId' | 'protocol'>): Promise<void>;
  /** Appends text at `position` (chunks count from 0) and renews the heartbeat. False when the reply has ended already. */
  append(reply: { id: string; position: number; data: string }): Promise<boolean>;
  heartbeat(id: string): Promise<void>;
  /** Ends it once; `tail` is appended in the same transaction. False when it had ended before. */
  end(reply: { id: string; tail: string | null }): Promise<boolean>;
  markDelivered(id: string): Promise<void>;
  /** The newest reply of a chat that is not delivered. */
  findResumable(query: { siteId: string; chatId: string; keyId: string }): Promise<ReplyRow | null>;
  read(id: string, fromPosition: number): Promise<{ chunks: string[]; ended: boolean; silentSeconds: number }>;
  sweep(): Promise<void>;
}

export declare function createReplyStore(pool: Pool): ReplyStore;
