import type { Pool, PoolClient } from 'pg';
import type { Caller, Owner } from '../caller.ts';
import { newId } from '../ids.ts';
import { cursorOf, decodeCursor, pageOf } from '../page-cursor.ts';
import { toStoredJson, toStoredText } from '../stored-text.ts';

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
  /** Name of the key; null when it has none. */
  keyName: string | null;
  sessionId: string | null;
  /** Name of the person who signed in, from the sign-in link. */
  person: string | null;
  /** Noun and verb, such as `key.create`. */
  action: string;
  /** The id of the object. */
  subject: string | null;
  /** Name of the object, such as a project's name or a job's title; null when it has none or no longer exists. */
  subjectName: string | null;
  details: Record<string, unknown>;
  createdAt: Date;
}

export interface AuditQuery {
  limit: number;
  cursor?: string | undefined;
  /** Such as `job.cancel`, or `job` for everything that begins so. */
  action?: string | undefined;
  subject?: string | undefined;
  keyId?: string | undefined;
  person?: string | undefined;
}

/** Largest number of entries that a page of a filtered log reads. */
const maxScanned = 2_000;

/** Longest name, in characters. */
const maxNameLength = 200;

/** Reads the names of an organization's objects (`$1`) by their ids (`$2`). Sites and secrets are named by their id. */
const namesStatement = `
  select id, left(name, ${maxNameLength}) as name from (
    select id, name from api_keys where organization_id = $1 and id = any($2)
    union all
    select id, person from sessions where organization_id = $1 and id = any($2)
    union all
    select id, name from projects where organization_id = $1 and id = any($2)
    union all
    select id, coalesce(title, (select left(prompt, ${maxNameLength}) from job_turns where job_id = jobs.id and turn = 1))
    from jobs where organization_id = $1 and id = any($2)
    union all
    select id, title from pull_requests where organization_id = $1 and id = any($2)
    union all
    select webhooks.id, webhooks.url from webhook_endpoints as webhooks join projects on projects.id = webhooks.project_id
    where organization_id = $1 and webhooks.id = any($2)
    union all
    select sets.id, sets.name from question_sets as sets join sites on sites.id = sets.site_id
    where organization_id = $1 and sets.id = any($2)
    union all
    select evaluations.id, set_name from evaluations join sites on sites.id = evaluations.site_id
    where organization_id = $1 and evaluations.id = any($2)
    union all
    select gaps.id, label from gaps join sites on sites.id = gaps.site_id
    where organization_id = $1 and gaps.id = any($2)
  ) as named
  where name is not null`;

/** Reads an organization's entries (`$1`) before a cursor (`$2`, `$3`). */
const scanned = `
  select * from audit_entries
  where organization_id = $1
    and ($2::bigint is null or (created_at, id) < ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::text))
  order by created_at desc, id desc`;

export type AuditStore = ReturnType<typeof createAuditStore>;

/** Creates the store of an organization's audit log. */
export function createAuditStore(pool: Pool) {
  return {
    /** Newest first. A page of a filtered log may have fewer entries than its limit. Throws InvalidCursorError. */
    async list(
      { organizationId }: Owner,
      { limit, cursor, ...filter }: AuditQuery,
    ): Promise<{ entries: AuditEntry[]; nextCursor: string | null }> {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const where = [organizationId, after?.createdMicros ?? null, after?.id ?? null];
      const filters = [filter.action, filter.subject, filter.keyId, filter.person].map((value) =>
        value === undefined ? null : toStoredText(value),
      );
      const { rows } = await pool.query<Omit<AuditEntry, 'keyName' | 'subjectName'> & { createdMicros: string }>(
        `select id, key_id as "keyId", session_id as "sessionId", person, action, subject, details, created_at as "createdAt",
                (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
         from (${scanned} limit ${maxScanned}) as scanned
         where ($5::text is null or action = $5 or starts_with(action, $5 || '.')) and ($6::text is null or subject = $6)
           and ($7::text is null or key_id = $7) and ($8::text is null or person = $8)
         order by created_at desc, id desc limit $4`,
        [...where, limit + 1, ...filters],
      );
      const page = pageOf(rows, limit);
      // the next page continues where this one stopped reading
      if (page.nextCursor === null && filters.some((value) => value !== null)) {
        const stopped = await pool.query<{ id: string; createdMicros: string }>(
          `select id, (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros"
           from (${scanned}) as scanned offset ${maxScanned - 1} limit 1`,
          where,
        );
        page.nextCursor = cursorOf(stopped.rows[0]);
      }
      const ids = page.rows.flatMap(({ subject, keyId }) => [subject, keyId]).filter((id) => id !== null);
      const named = await pool.query<{ id: string; name: string }>(namesStatement, [organizationId, [...new Set(ids)]]);
      const names = new Map(named.rows.map(({ id, name }) => [id, name]));
      const nameOf = (id: string | null) => (id === null ? null : (names.get(id) ?? null));
      const entries = page.rows.map((entry) => ({
        ...entry,
        keyName: nameOf(entry.keyId),
        subjectName: nameOf(entry.subject),
      }));
      return { entries, nextCursor: page.nextCursor };
    },
  };
}
