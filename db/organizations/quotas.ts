import { DatabaseError, type PoolClient } from 'pg';

/** Quotas of an organization, by the names that the database's triggers use. */
export type Quotas = Readonly<Record<string, number>>;

/** Sets quotas on a connection: a statement that exceeds one fails. */
export async function setQuotas(client: Pick<PoolClient, 'query'>, quotas: Quotas): Promise<void> {
  await client.query(`select set_config('docket.quotas', $1, false)`, [JSON.stringify(quotas)]);
}

/** Returns the quota that made a statement fail; null for other errors. */
export function passedQuota(error: unknown): { name: string; max: number } | null {
  if (!(error instanceof DatabaseError) || error.code !== 'DK001') return null;
  return { name: error.message, max: Number(error.detail) };
}
