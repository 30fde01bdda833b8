import { createHmac } from 'node:crypto';
import type { Pool } from 'pg';
import { canBeId, newId } from './ids.ts';
import { randomText } from './random-text.ts';

export interface SessionRow {
  id: string;
  organizationId: string;
  /** The admin key that it stands for. */
  keyId: string;
  expiresAt: Date;
}

export interface SessionStore {
  /** A session in place of a valid admin key; null when the key is none any more. */
  open(keyId: string): Promise<SessionRow | null>;
  /** Makes a text that signs in once, within a quarter of an hour, for a valid admin key. */
  createLink(keyId: string): Promise<string>;
  /** Uses a link up; null when it is unknown, used or too old, or when its key has ended. */
  openByLink(text: string): Promise<SessionRow | null>;
  /** Null when it is unknown, signed out or too old, or when its key has ended. */
  find(id: string): Promise<SessionRow | null>;
  revoke(id: string): Promise<void>;
  /** Signs out all of an organization; answers how many. */
  revokeAll(organizationId: string): Promise<number>;
  /** Removes what has ended long ago. */
  sweep(): Promise<void>;
}

/** How long a session lasts. */
export const sessionSeconds = 12 * 3_600;
const linkMinutes = 15;

const sessionColumns = `
  sessions.id, sessions.organization_id as "organizationId", sessions.key_id as "keyId", sessions.expires_at as "expiresAt"`;

const keyIsValid = `
  api_keys.kind = 'admin' and api_keys.revoked_at is null and (api_keys.expires_at is null or api_keys.expires_at > now())`;

/** A session ends with the key it stands for, at the latest. */
const openStatement = (keyIs: string) => `
  insert into sessions (id, organization_id, key_id, expires_at)
  select $1, organization_id, id, least(now() + $2::integer * interval '1 second', expires_at)
  from api_keys where ${keyIs} and ${keyIsValid}
  returning ${sessionColumns}`;

/** Sessions of the dashboard. `pepper` is the secret of the installation. */
export function createSessionStore(pool: Pool, pepper: string): SessionStore {
  const digestOfLink = (text: string) => createHmac('sha256', pepper).update(`sign-in-link ${text}`).digest();

  return {
    async open(keyId) {
      const values = [newId('ses_'), sessionSeconds, keyId];
      const { rows } = await pool.query<SessionRow>(openStatement('id = $3'), values);
      return rows[0] ?? null;
    },

    async createLink(keyId) {
      const text = randomText('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', 43);
      await pool.query(
        `insert into sign_in_links (digest, key_id, expires_at) values ($1, $2, now() + $3::integer * interval '1 minute')`,
        [digestOfLink(text), keyId, linkMinutes],
      );
      return text;
    },

    async openByLink(text) {
      const { rows } = await pool.query<SessionRow>(
        `with link as (
           delete from sign_in_links where digest = $3 and expires_at > now() returning key_id
         ) ${openStatement('id = (select key_id from link)')}`,
        [newId('ses_'), sessionSeconds, digestOfLink(text)],
      );
      return rows[0] ?? null;
    },

    async find(id) {
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

    async revoke(id) {
      await pool.query('update sessions set revoked_at = coalesce(revoked_at, now()) where id = $1', [id]);
    },

    async revokeAll(organizationId) {
      const { rowCount } = await pool.query(
        'update sessions set revoked_at = now() where organization_id = $1 and revoked_at is null and expires_at > now()',
        [organizationId],
      );
      return rowCount ?? 0;
    },

    async sweep() {
      await pool.query(`delete from sessions where expires_at < now() - interval '1 day'`);
      await pool.query('delete from sign_in_links where expires_at < now()');
    },
  };
}
