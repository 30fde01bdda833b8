import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PG_MIGRATE_LOCK_ID, runner } from 'node-pg-migrate';
import { Client } from 'pg';
import { codeOf } from '../lib/error-code.ts';
import { migrationsTable } from './check-database.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Longest time that a migration waits for a lock of a table: other queries of the table wait behind it. */
const lockTimeoutMs = 3_000;
/** Time after which a migration that got no lock is tried again. */
const pauseMs = 1_000;
/** Time after which a migration that got no lock fails. */
const maxWaitMs = 10 * 60_000;

export interface MigrateOptions {
  /** Called once, with a sentence, when a migration has to wait for other transactions. */
  onWait?(sentence: string): void;
}

/**
 * Migrates the database to the newest schema and returns the applied migrations. Processes that start together wait for
 * each other. A migration that other transactions keep from a lock lets the queries behind it pass, and is tried again;
 * those before it stay applied.
 */
export async function migrate(databaseUrl: string, { onWait }: MigrateOptions = {}): Promise<string[]> {
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'docket-migrate',
    connectionTimeoutMillis: 5_000,
    lock_timeout: lockTimeoutMs,
  });
  // a connection lost between two statements fails the next one; without a listener it would end the process
  client.on('error', () => undefined);
  try {
    await client.connect();
    await lock(client);
    const before = new Set(await appliedTo(client));
    const giveUpAt = performance.now() + maxWaitMs;
    for (let isFirst = true; !(await migrateUnlessLocked(client)); isFirst = false) {
      if (performance.now() > giveUpAt) throw new Error(`${whyItWaits} It gave up after ten minutes.`);
      if (isFirst) onWait?.(`${whyItWaits} It is tried again.`);
      await wait(pauseMs);
    }
    return (await appliedTo(client)).filter((name) => !before.has(name));
  } finally {
    await client.end();
  }
}

const whyItWaits = 'A migration waits for a table that another transaction uses, such as a backup.';
/** Codes of PostgreSQL: a lock was not available in time, and a deadlock was detected. */
const lockFailures = new Set(['55P03', '40P01']);

/** Runs the migrations that are missing, each in its own transaction. Returns false if one did not get a lock. */
async function migrateUnlessLocked(client: Client): Promise<boolean> {
  try {
    await runner({
      dbClient: client,
      dir: join(import.meta.dirname, 'migrations'),
      migrationsTable,
      direction: 'up',
      singleTransaction: false,
      noLock: true,
      logger: silent,
    });
    return true;
  } catch (error) {
    if (!lockFailures.has(codeOf(error) ?? '')) throw error;
    await client.query('rollback');
    await client.query('reset lock_timeout');
    return false;
  }
}

async function appliedTo(client: Client): Promise<string[]> {
  const { rowCount } = await client.query('select where to_regclass($1) is not null', [migrationsTable]);
  if (rowCount === 0) return [];
  const { rows } = await client.query<{ name: string }>(`select name from ${migrationsTable} order by id`);
  return rows.map(({ name }) => name);
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
