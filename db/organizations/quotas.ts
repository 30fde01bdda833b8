import { DatabaseError, type PoolClient } from 'pg';

/** What an organization may have, by the names that the triggers of the database know. */
export type Quotas = Readonly<Record<string, number>>;

/** Has the database hold a connection to these: whatever statement passes one fails. */
export async function holdToQuotas(client: Pick<PoolClient, 'query'>, quotas: Quotas): Promise<void> {
  await client.query(`select set_config('docket.quotas', $1, false)`, [JSON.stringify(quotas)]);
}

/** The quota that a statement would have passed; null: that is not why it failed. */
export function passedQuota(error: unknown): { name: string; most: number } | null {
  if (!(error instanceof DatabaseError) || error.code !== 'DK001') return null;
  return { name: error.message, most: Number(error.detail) };
}
