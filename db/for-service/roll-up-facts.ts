import type { Pool } from 'pg';
import { onlyRow } from '../rows.ts';

const factsAtOnce = 5_000;

/** Runs a statement that returns the `count` of the rows it has processed until that is less than a batch. */
export async function untilLess(pool: Pool, statement: string, batch: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query<{ count: number }>(statement);
    if (onlyRow(rows).count < batch) return;
  }
}

/**
 * Rolls up the facts of a table. `added` are the CTEs that add those of `taken` to the rollups: a fact is counted by the
 * transaction that deletes it, so any number of processes may do so at once.
 */
export async function rollUpFacts(pool: Pool, table: 'operation_facts' | 'site_facts', added: string): Promise<void> {
  const statement = `
    with taken as (
      delete from ${table} where ctid = any(array(
        select ctid from ${table} limit ${factsAtOnce} for update skip locked
      )) returning *
    ), ${added}
    select count(*)::integer as count from taken`;
  await untilLess(pool, statement, factsAtOnce);
}
