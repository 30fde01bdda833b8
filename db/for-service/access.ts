import type { Pool } from 'pg';
import { createBatchLoader } from '../batch-loader.ts';
import { canBeId } from '../ids.ts';
import { keyColumns, type KeyRow } from '../organizations/keys.ts';

export interface StoredKey extends KeyRow {
  /** HMAC-SHA-256 of the secret under the pepper, 32 bytes. */
  digest: Buffer;
}

export interface AccessStore {
  /** The key by the id that its text names. A flood of unknown ids takes one connection. */
  findKey(id: string): Promise<StoredKey | null>;
  /** Notes that keys were used. Batched by the caller. */
  touchKeys(ids: string[]): Promise<void>;
  /** Those of the keys and sessions that still let somebody in, by id. */
  valid(ids: string[]): Promise<Set<string>>;
}

/** Who is let in, and may still stay. What was deleted with its organization is as unknown as what never was. */
export function createAccessStore(pool: Pool): AccessStore {
  const loader = createBatchLoader<{ id: string }, StoredKey>({
    keyOf: ({ id }) => id,
    isSerial: true,
    async loadMany(keys) {
      const { rows } = await pool.query<StoredKey>({
        name: 'find-keys',
        text: `select ${keyColumns}, digest from api_keys where id = any($1::text[])`,
        values: [keys.map(({ id }) => id)],
      });
      return rows;
    },
  });
  return {
    findKey: async (id) => (canBeId(id) ? loader.load({ id }) : null),

    /** A row that another process holds is being touched there already. */
    async touchKeys(ids) {
      await pool.query(
        `with used as materialized (select id from api_keys where id = any($1::text[]) for update skip locked)
         update api_keys set last_used_at = now() from used where api_keys.id = used.id`,
        [ids],
      );
    },

    async valid(ids) {
      const { rows } = await pool.query<{ id: string }>({
        name: 'valid-access',
        text: `
          select id from api_keys
          where id = any($1::text[]) and revoked_at is null and (expires_at is null or expires_at > now())
          union all
          select sessions.id from sessions join api_keys on api_keys.id = sessions.key_id
          where sessions.id = any($1::text[]) and sessions.revoked_at is null and sessions.expires_at > now()
            and api_keys.revoked_at is null and (api_keys.expires_at is null or api_keys.expires_at > now())`,
        values: [ids],
      });
      return new Set(rows.map(({ id }) => id));
    },
  };
}
