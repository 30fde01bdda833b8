import type { Pool, PoolClient, QueryConfig } from 'pg';

/** Records the name, or else the text, of each statement that a pool sends on connections opened from now on. */
export function recordStatements(pool: Pool): { take(): string[] } {
  let sent: string[] = [];
  pool.on('connect', (client: PoolClient) => {
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const recording = (...args: unknown[]) => {
      const [statement] = args as [string | QueryConfig];
      const { name, text } = typeof statement === 'string' ? { name: undefined, text: statement } : statement;
      sent.push(name ?? text.replaceAll(/\s+/gu, ' ').trim());
      return query(...args);
    };
    Object.assign(client, { query: recording });
  });
  return {
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}
