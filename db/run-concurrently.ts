import type { MigrationBuilder } from 'node-pg-migrate';

/**
 * Runs the statements of a migration outside of a transaction, while rows are written. Their waits have no limit: an index
 * that is created concurrently waits for all transactions that are open, and locks none out.
 */
export function runConcurrently(builder: MigrationBuilder, statements: readonly string[]): void {
  builder.noTransaction();
  for (const statement of ['set lock_timeout = 0', ...statements, 'reset lock_timeout']) builder.sql(statement);
}
