import type { Pool } from 'pg';
import { canBeId } from './ids.ts';
import { createKeyText, digestOf } from './key-format.ts';
import { onlyRow } from './rows.ts';

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

export const keyColumns = `
  id, organization_id as "organizationId", kind, name, created_at as "createdAt", expires_at as "expiresAt",
  revoked_at as "revokedAt", last_used_at as "lastUsedAt"`;

/** `pepper` is the secret of the installation (`DOCKET_KEY_PEPPER`). */
export function createKeyStore(pool: Pool, pepper: string): KeyStore {
  async function create(request: {
    organizationId: string;
    kind: KeyKind;
    name?: string;
    expiresAt?: Date;
  }): Promise<{ key: string; row: KeyRow }> {
    const { organizationId, kind, name, expiresAt } = request;
    const { key, id, secret } = createKeyText(kind);
    const { rows } = await pool.query<KeyRow>(
      `insert into api_keys (id, organization_id, kind, name, digest, expires_at)
       values ($1, $2, $3, $4, $5, $6) returning ${keyColumns}`,
      [id, organizationId, kind, name ?? null, digestOf(pepper, secret), expiresAt ?? null],
    );
    return { key, row: onlyRow(rows) };
  }

  async function find(id: string): Promise<StoredKey | null> {
    if (!canBeId(id)) return null;
    const { rows } = await pool.query<StoredKey>({
      name: 'find-key',
      text: `select ${keyColumns}, digest from api_keys where id = $1`,
      values: [id],
    });
    return rows[0] ?? null;
  }

  async function list(organizationId?: string): Promise<KeyRow[]> {
    const { rows } = await pool.query<KeyRow>(
      `select ${keyColumns} from api_keys where $1::text is null or organization_id = $1 order by created_at, id`,
      [organizationId ?? null],
    );
    return rows;
  }

  async function revoke(id: string): Promise<boolean> {
    if (!canBeId(id)) return false;
    const { rowCount } = await pool.query(
      'update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1',
      [id],
    );
    return rowCount === 1;
  }

  /** A row that another process holds is being touched there already. */
  async function touch(ids: string[]): Promise<void> {
    await pool.query(
      `with used as materialized (select id from api_keys where id = any($1::text[]) for update skip locked)
       update api_keys set last_used_at = now() from used where api_keys.id = used.id`,
      [ids],
    );
  }

  return { create, find, list, revoke, touch };
}
