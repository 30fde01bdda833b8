import type { Pool } from 'pg';

export interface AccessStore {
  /** Those of the keys and sessions that still let somebody in, by id. */
  valid(ids: string[]): Promise<Set<string>>;
}

/** Whether keys and sessions that were let in may still stay. One that was deleted with its organization may not. */
export function createAccessStore(pool: Pool): AccessStore {
  return {
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
