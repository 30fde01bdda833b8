import { randomBytes } from 'node:crypto';
import { Client, Pool } from 'pg';
import { inject } from 'vitest';

export interface TestDatabase extends AsyncDisposable {
  url: string;
  pool: Pool;
}

/** Creates a database with the current schema, which is dropped when it is disposed of. */
export async function createTestDatabase(serverUrl = inject('databaseUrl')): Promise<TestDatabase> {
  const name = `test_${randomBytes(8).toString('hex')}`;
  await runOnServer(serverUrl, `create database ${name} template docket_template strategy file_copy`);
  const address = new URL(serverUrl);
  address.pathname = `/${name}`;
  const pool = new Pool({ connectionString: address.href, max: 10 });
  pool.on('error', () => undefined); // a test may end the server's side of a connection
  return {
    url: address.href,
    pool,
    async [Symbol.asyncDispose]() {
      if (!pool.ended) await pool.end();
      await runOnServer(serverUrl, `drop database if exists ${name} with (force)`);
    },
  };
}

async function runOnServer(connectionString: string, statement: string): Promise<void> {
  const client = new Client({ connectionString });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Resolves when a statement waits for the lock of another transaction. */
export async function untilBlocked({ pool }: Pick<TestDatabase, 'pool'>): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    if (rows.length > 0) return;
  }
}
