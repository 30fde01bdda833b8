import type { Pool } from 'pg';
import { onlyRow } from './rows.ts';

const factsAtOnce = 5_000;

/** Repeats a statement, which returns the `count` of rows that it processed, until that is less than a batch. */
export async function untilLess(pool: Pool, statement: string, batch: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ count: number }>(statement);
    if (onlyRow(rows).count < batch) return;
  }
}

/**
 * Rolls up the facts of a table and deletes them in batches. `added` are the CTEs that add the facts in `taken`, which
 * are one batch, to the rollups. One statement counts and deletes a fact, so many processes may roll up at once.
 */
export async function rollUpFacts(
  pool: Pool,
  table: 'operation_facts' | 'site_facts' | 'organization_growth',
  added: string,
): Promise<void> {
  const statement = `
    with taken as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} limit ${factsAtOnce} for update skip locked
      )) returning *
    ), ${added}
    select count(*)::integer as count from taken`;
  await untilLess(pool, statement, factsAtOnce);
}
