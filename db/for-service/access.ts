import type { Pool } from 'pg';
import { createBatchLoader } from '../batch-loader.ts';
import { canBeId } from '../ids.ts';
import { keyColumns, type KeyRow } from '../organizations/keys.ts';

export interface StoredKey extends KeyRow {
  /** HMAC-SHA-256 of the secret under the pepper, 32 bytes. */
  digest: Buffer;
  /** Whether it is revoked or expired, by the clock of the database. */
  hasEnded: boolean;
}

export type AccessStore = ReturnType<typeof createAccessStore>;

/** Creates the store of access checks. A key deleted with its organization is unknown, like one that never existed. */
export function createAccessStore(pool: Pool) {
  const loader = createBatchLoader<{ id: string }, StoredKey>({
    keyOf: ({ id }) => id,
    atOnce: 1,
    async loadMany(keys) {
      const { rows } = await pool.query<StoredKey>({
        name: 'find-keys',
        text: `select ${keyColumns}, digest, revoked_at is not null or coalesce(expires_at <= now(), false) as "hasEnded"
               from api_keys where id = any($1::text[])`,
        values: [keys.map(({ id }) => id)],
      });
      return rows;
    },
  });
  return {
    /** Finds a key by the id in its text. A flood of unknown ids uses a single connection. */
    findKey: async (id: string): Promise<StoredKey | null> => (canBeId(id) ? loader.load({ id }) : null),

    /**
     * Notes that keys were used. Batched by the caller. Skips rows that another process has locked: it is recording
     * their use.
     */
    async touchKeys(ids: string[]): Promise<void> {
      await pool.query(
        `with used as materialized (select id from api_keys where id = any($1::text[]) for update skip locked)
         update api_keys set last_used_at = now() from used where api_keys.id = used.id`,
        [ids],
      );
    },

    /** Returns the ids of the keys and sessions that are still valid. */
    async valid(ids: string[]): Promise<Set<string>> {
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
