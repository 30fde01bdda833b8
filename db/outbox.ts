import type { Pool } from 'pg';

export interface OutboxEntry {
  jobId: string;
  turn: number;
}

export interface OutboxStore {
  /** Entries due now, locked away from other processes until `leaseMs` from now by moving their next attempt. */
  claimDue(options: { limit: number; leaseMs: number }): Promise<OutboxEntry[]>;
  /** The start is confirmed. */
  remove(entry: OutboxEntry): Promise<void>;
}

export declare function createOutboxStore(pool: Pool): OutboxStore;
