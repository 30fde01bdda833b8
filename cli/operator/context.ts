import type { Pool } from 'pg';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';
import type { TemporalSettings } from '../../lib/temporal/temporal-credentials.ts';

/** What the operator's commands work with: the stores themselves, because they are above any one organization's key. */
export interface OperatorContext {
  pool: Pool;
  /** The secret that key digests are made with. */
  keyPepper: string;
  /** What stored secrets and payloads are sealed with; the first one seals. */
  encryptionKeys: EncryptionKey[];
  /** Where repositories of the local forge may lie; null: none. */
  localRoot: string | null;
  /** Temporal's frontend. */
  temporal: TemporalSettings;
}

/** Runs a command with a context that is opened for it and closed afterwards. */
export type WithOperator = <T>(work: (context: OperatorContext) => Promise<T>) => Promise<T>;
