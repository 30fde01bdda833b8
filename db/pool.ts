import { DatabaseError, type Pool, type PoolClient } from 'pg';
import { FairPool } from './fair-pool.ts';
import { holdToQuotas, type Quotas } from './organizations/quotas.ts';
import { isStoreDown } from './store-down.ts';

export interface PoolOptions {
  url: string;
  maxConnections: number;
  applicationName: string;
  /** How long the server works on one statement. */
  statementTimeoutMs?: number;
  /** How long to wait for a connection: a free one of the pool, or a new one. */
  connectTimeoutMs?: number;
  /** Whom a connection is taken for now; the connections are divided between them. Absent: for one holder. */
  holderOf?: () => string | null;
  /** What an organization may have at most; absent: any amount. */
  quotas?: Quotas;
  /** Called for connections that broke while idle; the pool replaces them. */
  onConnectionLost?: (error: Error) => void;
}

/** The process's connections to PostgreSQL. Nothing is connected before the first query. */
export function createPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new FairPool({
    holderOf: options.holderOf ?? (() => null),
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 2_000,
    statement_timeout: statementTimeoutMs,
    // the server's own timeout comes first; this one is for a server that no longer answers at all
    query_timeout: statementTimeoutMs + 1_000,
    idle_in_transaction_session_timeout: 60_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // a connection that breaks between two statements of a transaction is heard by nobody else
  pool.on('connect', (client) => client.on('error', () => undefined));
  const { quotas } = options;
  if (quotas !== undefined) {
    // the first statement of a connection: whatever it is taken for waits behind it
    pool.on('connect', (client) => void holdToQuotas(client, quotas).catch((error) => client.emit('error', error)));
  }
  return pool;
}

const deadlockDetected = '40P01';
const mostTries = 5;

/**
 * Runs `work` in a transaction of its own connection: committed when it returns, rolled back when it throws. Of two that wait for
 * each other, such as a change and a deletion of what it belongs to, PostgreSQL ends one, which is then run again.
 */
export async function withTransaction<Result>(
  pool: Pool,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await tryTransaction(pool, work);
    } catch (error) {
      const isDeadlock = error instanceof DatabaseError && error.code === deadlockDetected;
      if (!isDeadlock || tries === mostTries) throw error;
    }
  }
}

async function tryTransaction<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  let failure: unknown = null;
  try {
    return await inTransaction(client, () => work(client));
  } catch (error) {
    failure = error;
    throw error;
  } finally {
    // closing the connection rolls back what may still be open
    client.release(isStoreDown(failure));
  }
}

/** How long one statement of a read may take that goes through much, so that no few of them hold the connections. */
export const slowReadMs = { search: 2_000, report: 2_000 } as const;

/** A read took longer than one of its kind may. */
export class SlowReadError extends Error {
  override name = 'SlowReadError';
}

const queryCanceled = '57014';

/** Runs reads of one kind on one connection, on the rows of one moment. Throws SlowReadError. */
export function readWithin<Result>(
  pool: Pool,
  kind: keyof typeof slowReadMs,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  return withTransaction(pool, async (client) => {
    await client.query(
      `set transaction isolation level repeatable read read only; set local statement_timeout = ${slowReadMs[kind]}`,
    );
    try {
      return await work(client);
    } catch (error) {
      const isTooSlow = error instanceof DatabaseError && error.code === queryCanceled;
      throw isTooSlow ? new SlowReadError('A read took too long.', { cause: error }) : error;
    }
  });
}

/** Runs `work` in a transaction of a connection that the caller has. */
export async function inTransaction<Result>(client: PoolClient, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // a connection that is lost has nothing to roll back
    if (!isStoreDown(error)) await client.query('rollback');
    throw error;
  }
}
