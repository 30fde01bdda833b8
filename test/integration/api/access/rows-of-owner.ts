import type { Pool } from 'pg';

/** A well-formed id that was never issued. */
export const neverGiven = (id: string) => id.replace(/[0-9a-z]{20}$/, '0'.repeat(20));

/** A digest of the rows of each table that contain one of the ids. */
export async function rowsWith(pool: Pool, ids: string[]): Promise<unknown> {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' order by tablename`,
  );
  const digests = tables.map(
    ({ name }) => `
      select '${name}' as "table", count(*)::integer as rows, md5(string_agg(text, '' order by text)) as digest
      from (select each::text as text from ${name} as each) as all_rows where text ~ $1`,
  );
  const { rows } = await pool.query(`${digests.join(' union all ')} order by "table"`, [ids.join('|')]);
  return rows;
}
