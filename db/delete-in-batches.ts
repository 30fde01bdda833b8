import type { Pool } from 'pg';

const batch = 1_000;

/**
 * Repeats a statement that deletes at most `$1` unlocked rows until fewer are left. Each batch is a short transaction; locked rows
 * wait for the next sweep. Returns the number of deleted rows.
 */
export async function deleteInBatches(pool: Pool, statement: string, values: unknown[] = []): Promise<number> {
  for (let deleted = 0; ;) {
    const { rowCount } = await pool.query(statement, [batch, ...values]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < batch) return deleted;
  }
}

/** Deletes the unlocked rows of a table that `which` finds in short transactions; its placeholders begin with `$2`. */
export async function deleteAll(pool: Pool, table: string, which: string, values: unknown[]): Promise<void> {
  await deleteInBatches(
    pool,
    `delete from ${table} where ctid = any(array(select ctid from ${table} where ${which} limit $1 for update skip locked))`,
    values,
  );
}
