import type { Pool, PoolClient } from 'pg';
import type { Caller, Owner } from '../caller.ts';
import { newId } from '../ids.ts';
import { decodeCursor, pageOf } from '../page-cursor.ts';
import { toStoredJson } from '../stored-text.ts';

/** An action: noun and verb, the id of its object, and details without secrets. */
export interface AuditedAction {
  action: string;
  subject: string | null;
  details?: Record<string, unknown>;
}

/** Writes an entry of the audit log. Stores call it with the client of the transaction that makes the change. */
export async function writeAudit(
  client: PoolClient,
  { organizationId, keyId, sessionId }: Caller,
  { action, subject, details = {} }: AuditedAction,
): Promise<void> {
  await client.query(
    `insert into audit_entries (id, organization_id, key_id, session_id, person, action, subject, details)
     values ($1, $2, $3, $4, (select person from sessions where id = $4), $5, $6, $7)`,
    [newId('aud_'), organizationId, keyId, sessionId, action, subject, toStoredJson(details)],
  );
}

export interface AuditEntry {
  id: string;
  keyId: string | null;
  sessionId: string | null;
  /** Name of the person who signed in, from the sign-in link. */
  person: string | null;
  /** Noun and verb, such as `key.create`. */
  action: string;
  /** The id of the object. */
  subject: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
}

export interface AuditStore {
  /** Newest first. Throws InvalidCursorError. */
  list(
    owner: Owner,
    query: { limit: number; cursor?: string },
  ): Promise<{ entries: AuditEntry[]; nextCursor: string | null }>;
}

/** Creates the store of an organization's audit log. */
export function createAuditStore(pool: Pool): AuditStore {
  return {
    async list({ organizationId }, { limit, cursor }) {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const { rows } = await pool.query<AuditEntry & { createdMicros: string }>(
        `select id, key_id as "keyId", session_id as "sessionId", person, action, subject, details, created_at as "createdAt",
                (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
         from audit_entries
         where organization_id = $1
           and ($2::bigint is null or (created_at, id) < ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::text))
         order by created_at desc, id desc limit $4`,
        [organizationId, after?.createdMicros ?? null, after?.id ?? null, limit + 1],
      );
      const page = pageOf(rows, limit);
      return { entries: page.rows, nextCursor: page.nextCursor };
    },
  };
}
