import type { Pool, QueryResultRow } from 'pg';
import type { Owner } from './caller.ts';
import { decodeCursor, encodeCursor } from './page-cursor.ts';
import { onlyRow } from './rows.ts';

export interface PageQuery {
  limit: number;
  cursor?: string;
}

export interface Page<Row> {
  rows: Row[];
  nextCursor: string | null;
}

/** Default length of a page. */
export const maxPageSize = 100;

/** Number of projects and sites that a session offers in pickers. */
export const maxChoices = 1_000;

/** Returns a page of an organization's rows of a table, oldest first. Throws InvalidCursorError. */
export async function readPage<Row extends QueryResultRow & { id: string }>(
  pool: Pool,
  { table, columns }: { table: 'projects' | 'sites' | 'api_keys'; columns: string },
  { organizationId }: Owner,
  { limit, cursor }: PageQuery,
): Promise<Page<Row>> {
  const after = cursor === undefined ? null : decodeCursor(cursor);
  const { rows } = await pool.query<Row>(
    `select ${columns} from ${table}
     where organization_id = $1
       and ($2::bigint is null or (created_at, id) > ('epoch'::timestamptz + $2::bigint * interval '1 microsecond', $3::text))
     order by created_at, id limit $4`,
    [organizationId, after?.createdMicros ?? null, after?.id ?? null, limit + 1],
  );
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  if (last === undefined) return { rows: page, nextCursor: null };
  // a Date would lose precision of the sort key
  const times = await pool.query<{ createdMicros: string }>(
    `select (extract(epoch from created_at) * 1000000)::bigint::text as "createdMicros" from ${table}
     where id = $1 and organization_id = $2`,
    [last.id, organizationId],
  );
  return { rows: page, nextCursor: encodeCursor({ id: last.id, ...onlyRow(times.rows) }) };
}
