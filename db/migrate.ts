import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate';
import { Client } from 'pg';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Migrates the database to the newest schema and returns the applied migrations. Processes that start together wait for
 * each other.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'docket-migrate',
    connectionTimeoutMillis: 5_000,
  });
  // a connection lost between two statements fails the next one; without a listener it would end the process
  client.on('error', () => undefined);
  try {
    await client.connect();
    await lock(client);
    const applied = await runner({
      dbClient: client,
      dir: join(import.meta.dirname, 'migrations'),
      migrationsTable: 'schema_migrations',
      direction: 'up',
      singleTransaction: true,
      noLock: true,
      logger: silent,
    });
    return applied.map(({ name }) => name);
  } finally {
    await client.end();
  }
}

/**
 * Waits for the lock of migrations, which ends with the connection. A statement that waited for it would block, and be blocked by,
 * an index that is created concurrently.
 */
async function lock(client: Client): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ isHeld: boolean }>(`select pg_try_advisory_lock($1) as "isHeld"`, [
      PG_MIGRATE_LOCK_ID,
    ]);
    if (rows[0]?.isHeld === true) return;
    await wait(200);
  }
}
