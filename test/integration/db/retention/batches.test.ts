import { afterAll, beforeAll, expect, it } from 'vitest';
import { createRetentionStore } from '../../../../db/for-worker/retention.ts';
import { buildOrganization } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database?.[Symbol.asyncDispose]());

const limits = { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 2 ** 40, threads: 1e6 };

it('old spending is removed in batches', async () => {
  const { pool } = database;
  const { id } = await buildOrganization(pool);
  await pool.query(
    `insert into organization_spending (organization_id, day, cost_micros)
     select $1, current_date - 500 - number, 1 from generate_series(1, 501) as number`,
    [id],
  );
  const days = async () => (await pool.query('select count(*)::int as days from organization_spending')).rows[0].days;
  const retention = createRetentionStore(pool);
  expect([await retention.sweep(limits), await days()]).toEqual([true, 1]);
  expect([await retention.sweep(limits), await days()]).toEqual([false, 0]);
});
