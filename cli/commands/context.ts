import type { Pool } from 'pg';
import type { TemporalSettings } from '../../lib/temporal/temporal-credentials.ts';
import type { EncryptionKey } from '../../lib/encryption/keys.ts';

/** What every command of the `docket` command line works with. */
export interface CommandContext {
  pool: Pool;
  /** The secret that key digests are made with. */
  keyPepper: string;
  /** What stored secrets and payloads are sealed with; the first one seals. */
  encryptionKeys: EncryptionKey[];
  /** Where repositories of the local forge may lie; null: none. */
  localRoot: string | null;
  /** Hosts whose repositories may be named. */
  allowedHosts: string[];
  /** `host` or `host:port` that webhooks may lead to though it is private, and without TLS. */
  webhookAllowedHosts: string[];
  /** Where the API and the dashboard are reached. */
  baseUrl: string;
  /** Temporal's frontend. */
  temporal: TemporalSettings;
  /** All that standard input has. */
  readInput(): Promise<string>;
}

/** Runs a command with a context that is opened for it and closed afterwards. */
export type WithContext = <T>(work: (context: CommandContext) => Promise<T>) => Promise<T>;

/** A mistake of the person at the keyboard: its sentence is printed, no stack. */
export class CommandError extends Error {
  override name = 'CommandError';
}
