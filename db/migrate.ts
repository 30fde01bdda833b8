import { join } from 'node:path';
import { runner } from 'node-pg-migrate';
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
    const applied = await runner({
      dbClient: client,
      dir: join(import.meta.dirname, 'migrations'),
      migrationsTable: 'schema_migrations',
      direction: 'up',
      singleTransaction: true,
      advisoryLockMode: 'wait',
      logger: silent,
    });
    return applied.map(({ name }) => name);
  } finally {
    await client.end();
  }
}
