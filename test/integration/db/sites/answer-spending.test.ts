import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAnswerSpendingStore } from '../../../../db/sites/answer-spending.ts';
import { inTransaction } from '../../../../db/pool.ts';
import { createTestDatabase, untilBlocked, type TestDatabase } from '../../../support/database/database.ts';
import { seedSite } from '../seed.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

it('settles a call while another one is reserved, without a deadlock', async () => {
  const { pool } = database;
  const spending = createAnswerSpendingStore(pool);
  const site = await seedSite(pool);
  const held = await spending.hold(site, { mostMicros: 100, siteMicros: null, organizationMicros: null });
  if ('spent' in held) throw new Error('The call was refused.');
  const other = await pool.connect();
  try {
    // the statements of a reservation, in their order
    const settled = await inTransaction(other, async () => {
      await other.query('update site_spending set cost_micros = cost_micros + 7 where site_id = $1', [site.id]);
      const adding = spending.add(site, { day: held.day, micros: -40 });
      await untilBlocked(database);
      const ofOrganization =
        'update organization_spending set cost_micros = cost_micros + 7 where organization_id = $1';
      await other.query(ofOrganization, [site.organizationId]);
      return { adding };
    });
    await settled.adding;
  } finally {
    other.release();
  }
  const { rows } = await pool.query(
    `select cost_micros::int as micros from site_spending where site_id = $1
     union all select cost_micros::int from organization_spending where organization_id = $2`,
    [site.id, site.organizationId],
  );
  expect(rows).toEqual([{ micros: 67 }, { micros: 67 }]);
});
