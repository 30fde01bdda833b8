import type { EncryptionKey } from '../../lib/encryption/keys.ts';
import type { TemporalSettings } from '../../lib/temporal/temporal-credentials.ts';
import type { OperatorStores } from './stores.ts';

/**
 * Dependencies of the operator's commands: the stores themselves, because these commands span organizations and an API
 * key belongs to one.
 */
export interface OperatorContext {
  stores: OperatorStores;
  /** Keys that seal stored secrets and payloads. New values are sealed with the first one. */
  encryptionKeys: EncryptionKey[];
  /** Folder that must contain the repositories of the local forge; null when there is none. */
  localRoot: string | null;
  /** Connection settings of Temporal's frontend. */
  temporal: TemporalSettings;
}

/** Runs a command with a context that is opened for it and closed afterwards. */
export type WithOperator = <T>(work: (context: OperatorContext) => Promise<T>) => Promise<T>;
