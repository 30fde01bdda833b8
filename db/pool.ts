import { DatabaseError, type Pool, type PoolClient, type QueryConfig } from 'pg';
import { FairPool } from './fair-pool.ts';
import { setQuotas, type Quotas } from './organizations/quotas.ts';
import { isStoreDown } from './store-down.ts';

export interface PoolOptions {
  url: string;
  maxConnections: number;
  applicationName: string;
  /** Server's time limit of one statement. */
  statementTimeoutMs?: number;
  /** Time limit for getting a connection: a free one of the pool, or a new one. */
  connectTimeoutMs?: number;
  /**
   * Returns who takes a connection; the connections are shared fairly among the holders. If absent, there is one
   * holder.
   */
  holderOf?: () => string | null;
  /** Quotas of an organization; no limits if absent. */
  quotas?: Quotas;
  /** Called for connections that broke while idle; the pool replaces them. */
  onConnectionLost?: (error: Error) => void;
}

/**
 * Creates the process's pool of connections to PostgreSQL. Nothing is connected before the first query. A statement that
 * ends in a deadlock runs again.
 */
export function createPool(options: PoolOptions): Pool {
  const statementTimeoutMs = options.statementTimeoutMs ?? 30_000;
  const pool = new FairPool({
    holderOf: options.holderOf ?? (() => null),
    connectionString: options.url,
    max: options.maxConnections,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 2_000,
    statement_timeout: statementTimeoutMs,
    // the server's own timeout is shorter; this one is for a server that no longer responds at all
    query_timeout: statementTimeoutMs + 1_000,
    idle_in_transaction_session_timeout: 60_000,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
  });
  // a statement outside a transaction is one of its own
  const query = pool.query.bind(pool);
  Object.assign(pool, { query: (...statement: [QueryConfig]) => retryDeadlocks(() => query(...statement)) });
  pool.on('error', (error) => options.onConnectionLost?.(error));
  // no one else listens to a connection that breaks between two statements of a transaction
  pool.on('connect', (client) => client.on('error', () => undefined));
  const { quotas } = options;
  if (quotas !== undefined) {
    // the first statement of a connection; later ones wait for it
    pool.on('connect', (client) => void setQuotas(client, quotas).catch((error) => client.emit('error', error)));
  }
  return pool;
}

const deadlockDetected = '40P01';
const maxTries = 5;

/**
 * Runs `work` in a transaction on its own connection: committed when it returns, rolled back when it throws, retried
 * after a deadlock.
 */
export function withTransaction<Result>(pool: Pool, work: (client: PoolClient) => Promise<Result>): Promise<Result> {
  return retryDeadlocks(() => tryTransaction(pool, work));
}

/**
 * Runs a whole transaction. Of two transactions in a deadlock, such as a change and a deletion of its parent, PostgreSQL
 * aborts one, which is then retried.
 */
async function retryDeadlocks<Result>(transaction: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await transaction();
    } catch (error) {
      const isDeadlock = error instanceof DatabaseError && error.code === deadlockDetected;
      if (!isDeadlock || tries === maxTries) throw error;
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

/** Time limit of one statement of a large read, so that a few of them do not occupy the connections. */
export const slowReadMs = { search: 2_000, report: 2_000 } as const;

/** A large read exceeded its time limit. */
export class SlowReadError extends Error {
  override name = 'SlowReadError';
}

const queryCanceled = '57014';

/** Runs reads of one kind on one connection, on a consistent snapshot. Throws SlowReadError. */
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

/** Runs `work` in a transaction of the caller's connection. */
export async function inTransaction<Result>(client: PoolClient, work: () => Promise<Result>): Promise<Result> {
  await client.query('begin');
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    // a lost connection has nothing to roll back
    if (!isStoreDown(error)) await client.query('rollback');
    throw error;
  }
}
