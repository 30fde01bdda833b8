import { setTimeout as delay } from 'node:timers/promises';
import type { TestDatabase } from './database/database.ts';

/**
 * Waits for the next minute of the database unless this one has 20 seconds left: refused keys are counted by the minute, and
 * the count shrinks once the next one has begun.
 */
export async function untilEarlyInMinute({ pool }: Pick<TestDatabase, 'pool'>): Promise<void> {
  const { rows } = await pool.query<{ left: number }>(
    'select (60 - extract(second from clock_timestamp()))::float8 as left',
  );
  const [{ left } = { left: 0 }] = rows;
  if (left < 20) await delay(1_000 * left + 50);
}
