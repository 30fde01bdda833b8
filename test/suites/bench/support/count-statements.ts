import type { Pool, PoolClient } from 'pg';

/** Transactions and statements, `begin` and `commit` among them, that a pool has sent. */
export interface SentStatements {
  transactions: number;
  statements: number;
}

/** Counts what a pool sends from now on. It takes a connection once per transaction. */
export function countStatements(pool: Pool): Readonly<SentStatements> {
  const sent = { transactions: 0, statements: 0 };
  pool.on('acquire', () => (sent.transactions += 1));
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...statement: unknown[]) => unknown;
    const counted = (...statement: unknown[]) => {
      sent.statements += 1;
      return query(...statement);
    };
    Object.assign(client, { query: counted });
  });
  return sent;
}
