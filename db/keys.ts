import type { Pool } from 'pg';

export type KeyKind = 'admin' | 'assistant';

export interface KeyRow {
  id: string;
  organizationId: string;
  kind: KeyKind;
  name: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
}

export interface StoredKey extends KeyRow {
  /** HMAC-SHA-256 of the secret under the pepper, 32 bytes. */
  digest: Buffer;
}

export interface KeyStore {
  /** `key` is the full text, shown once and stored nowhere. */
  create(key: {
    organizationId: string;
    kind: KeyKind;
    name?: string;
    expiresAt?: Date;
  }): Promise<{ key: string; row: KeyRow }>;
  find(id: string): Promise<StoredKey | null>;
  list(organizationId?: string): Promise<KeyRow[]>;
  /** False when there is no such key. Repeating it changes nothing. */
  revoke(id: string): Promise<boolean>;
  /** Batched by the caller. */
  touch(ids: string[]): Promise<void>;
}

/** `pepper` is the secret of the installation (`DOCKET_KEY_PEPPER`). */
export declare function createKeyStore(pool: Pool, pepper: string): KeyStore;
