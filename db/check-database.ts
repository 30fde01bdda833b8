import { readdirSync } from 'node:fs';
import { join, parse } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Pool } from 'pg';
import { codeOf, undefinedTable } from '../lib/error-code.ts';

/** The database lacks migrations of this version. */
export class OldSchemaError extends Error {
  override name = 'OldSchemaError';
}

const maxMs = 2_000;
/** Table of the migrations that have been applied. */
export const migrationsTable = 'schema_migrations';
const newestMigration = parse(
  readdirSync(join(import.meta.dirname, 'migrations'))
    .toSorted()
    .at(-1) ?? '',
).name;

/**
 * Throws unless the database responds in time and has the schema of this version, or a newer one, which only adds to it.
 */
export async function checkDatabase(pool: Pick<Pool, 'query'>): Promise<void> {
  const found = pool
    .query(`select from ${migrationsTable} where name = $1`, [newestMigration])
    .catch((error: unknown) => {
      if (codeOf(error) === undefinedTable) return { rowCount: 0 };
      throw error;
    });
  const answer = await Promise.race([found, wait(maxMs, null, { ref: false })]);
  if (answer === null) throw new Error('The database did not answer in time.');
  if (answer.rowCount === 0)
    throw new OldSchemaError('The database has an older schema than this version. Run "node db/migrate-main.ts".');
}
