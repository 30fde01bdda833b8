import { createHmac } from 'node:crypto';
import type { Pool, PoolClient } from 'pg';
import { writeAudit } from './audit.ts';
import type { Caller } from '../caller.ts';
import { newId } from '../ids.ts';
import { withTransaction } from '../pool.ts';
import { randomText } from '../random-text.ts';
import type { Role } from '../../lib/roles.ts';

export interface SessionRow {
  id: string;
  organizationId: string;
  /** The admin key that the session acts for. */
  keyId: string;
  /** Name from the sign-in link; null when the link had none, or an admin key was used. */
  person: string | null;
  /** The lesser of the roles of its key and its link. */
  role: Role;
  expiresAt: Date;
}

/** Input of a new session. `role` is its highest role. */
type NewSession = Pick<SessionRow, 'organizationId' | 'keyId' | 'person' | 'role'>;

/** Duration of a session. */
export const sessionSeconds = 12 * 3_600;
const linkMinutes = 15;

export const sessionColumns = `
  sessions.id, sessions.organization_id as "organizationId", sessions.key_id as "keyId", sessions.person,
  sessions.expires_at as "expiresAt",
  (select case when 'viewer' in (api_keys.role, sessions.role) then 'viewer'
               when 'member' in (api_keys.role, sessions.role) then 'member' else 'admin' end
   from api_keys where api_keys.id = sessions.key_id) as role`;

export const keyIsValid = `
  api_keys.kind = 'admin' and api_keys.revoked_at is null and (api_keys.expires_at is null or api_keys.expires_at > now())`;

/** Returns the digest of a sign-in link, the only form in which it is stored. */
export function digestOfLink(pepper: string, text: string): Buffer {
  return createHmac('sha256', pepper).update(`sign-in-link ${text}`).digest();
}

/** Creates a session of a valid admin key, which it does not outlive. Null when the key is no longer valid. */
export async function insertSession(
  client: PoolClient,
  { organizationId, keyId, person, role }: NewSession,
): Promise<SessionRow | null> {
  const { rows } = await client.query<SessionRow>(
    `insert into sessions (id, organization_id, key_id, person, role, expires_at)
     select $1, organization_id, id, $4, $6, least(now() + $5::integer * interval '1 second', expires_at)
     from api_keys where id = $3 and organization_id = $2 and ${keyIsValid}
     returning ${sessionColumns}`,
    [newId('ses_'), organizationId, keyId, person, sessionSeconds, role],
  );
  const [session] = rows;
  if (session === undefined) return null;
  const caller = { organizationId, keyId, sessionId: session.id };
  await writeAudit(client, caller, { action: 'session.open', subject: session.id });
  return session;
}

export type SessionStore = ReturnType<typeof createSessionStore>;

/** Creates the store of dashboard sessions. `pepper` is the secret of the installation. */
export function createSessionStore(pool: Pool, pepper: string) {
  return {
    /** Opens a session for the caller's admin key; null when the key is no longer valid. */
    open: (caller: Caller & { keyId: string }): Promise<SessionRow | null> =>
      withTransaction(pool, (client) => insertSession(client, { ...caller, person: null, role: 'admin' })),

    /** Creates a text that signs in once, within 15 minutes, for a valid admin key of the organization. */
    async createLink(caller: Caller, link: { keyId: string; person?: string; role?: Role }): Promise<string> {
      const { keyId, person = null, role = 'admin' } = link;
      const text = randomText('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 43);
      await withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `insert into sign_in_links (digest, key_id, person, role, expires_at)
           select $1, id, $3, $6, now() + $4::integer * interval '1 minute'
           from api_keys where id = $2 and organization_id = $5 and ${keyIsValid}`,
          [digestOfLink(pepper, text), keyId, person, linkMinutes, caller.organizationId, role],
        );
        if (rowCount !== 1) throw new Error('A sign-in link needs a valid admin key of the organization.');
        await writeAudit(client, caller, { action: 'session.link', subject: keyId, details: { person, role } });
      });
      return text;
    },

    /** Ends the caller's session. */
    async revoke(caller: Caller & { sessionId: string }): Promise<void> {
      await withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'update sessions set revoked_at = now() where id = $1 and organization_id = $2 and revoked_at is null',
          [caller.sessionId, caller.organizationId],
        );
        if (rowCount === 1) await writeAudit(client, caller, { action: 'session.close', subject: caller.sessionId });
      });
    },

    /** Signs out everyone in the organization; unused links become invalid. */
    async revokeAll(caller: Caller): Promise<void> {
      await withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          'update sessions set revoked_at = now() where organization_id = $1 and revoked_at is null and expires_at > now()',
          [caller.organizationId],
        );
        await client.query(
          'delete from sign_in_links using api_keys where api_keys.id = key_id and organization_id = $1',
          [caller.organizationId],
        );
        await writeAudit(client, caller, { action: 'session.close-all', subject: null, details: { closed: rowCount } });
      });
    },
  };
}
