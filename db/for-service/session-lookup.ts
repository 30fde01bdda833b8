import type { Pool } from 'pg';
import { canBeId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { digestOfLink, insertSession, keyIsValid, sessionColumns, type SessionRow } from '../organizations/sessions.ts';

export type SessionLookup = ReturnType<typeof createSessionLookup>;

/** Sessions as authentication finds them. They determine the organization of a request. */
export function createSessionLookup(pool: Pool, pepper: string) {
  return {
    /** Null when it is unknown, signed out or expired, or when its key has ended. */
    async find(id: string): Promise<SessionRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<SessionRow>({
        name: 'find-session',
        text: `
          select ${sessionColumns} from sessions join api_keys on api_keys.id = sessions.key_id
          where sessions.id = $1 and sessions.expires_at > now() and sessions.revoked_at is null and ${keyIsValid}`,
        values: [id],
      });
      return rows[0] ?? null;
    },

    /** Uses up a sign-in link; null when it is unknown, used or expired, or when its key has ended. */
    openByLink(text: string): Promise<SessionRow | null> {
      return withTransaction(pool, async (client) => {
        const { rows } = await client.query<Pick<SessionRow, 'organizationId' | 'keyId' | 'person' | 'role'>>(
          `delete from sign_in_links using api_keys
           where sign_in_links.digest = $1 and sign_in_links.expires_at > now() and api_keys.id = key_id
           returning api_keys.organization_id as "organizationId", key_id as "keyId", person,
             sign_in_links.role`,
          [digestOfLink(pepper, text)],
        );
        const [link] = rows;
        return link === undefined ? null : insertSession(client, link);
      });
    },
  };
}
