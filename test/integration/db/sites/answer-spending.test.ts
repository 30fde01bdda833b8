import { beforeEach, expect, it } from 'vitest';
import { createAnswerSpendingStore } from '../../../../db/sites/answer-spending.ts';
import type { SiteRef } from '../../../../db/caller.ts';
import { createSweeps } from '../../../../db/for-service/sweeps.ts';
import { inTransaction } from '../../../../db/pool.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { untilEarlyIn } from '../../../support/early-in.ts';
import { seedSite } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
beforeEach(() => untilEarlyIn('day'));

const call = { maxMicros: 100, lostMicros: 10, siteMicros: null, organizationMicros: null };

/** Returns what the site and its organization have spent. */
async function spentOf({ id, organizationId }: SiteRef): Promise<number[]> {
  const { rows } = await database.pool.query(
    `select cost_micros::int as micros from site_spending where site_id = $1
     union all select cost_micros::int from organization_spending where organization_id = $2`,
    [id, organizationId],
  );
  return rows.map(({ micros }) => micros);
}

it('settles a call while another one is reserved, without a deadlock', async () => {
  const { pool } = database;
  const spending = createAnswerSpendingStore(pool);
  const site = await seedSite(pool);
  const reservation = await spending.reserve(site, call);
  if ('spent' in reservation) throw new Error('The call was refused.');
  const other = await pool.connect();
  try {
    // the statements of a reservation, in their order
    const settled = await inTransaction(other, async () => {
      await other.query('update site_spending set cost_micros = cost_micros + 7 where site_id = $1', [site.id]);
      const adding = spending.settle(site, reservation, 60);
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
  expect(await spentOf(site)).toEqual([67, 67]);
});

it('counts the call of a killed process as lost, once its reservation expires, and its late settlement in full', async () => {
  const { pool } = database;
  const spending = createAnswerSpendingStore(pool);
  const { answerHolds } = createSweeps(pool);
  const site = await seedSite(pool);
  const reservation = await spending.reserve(site, call);
  if ('spent' in reservation) throw new Error('The call was refused.');
  await answerHolds();
  expect(await spentOf(site)).toEqual([100, 100]);
  await pool.query(`update answer_holds set expires_at = now() - interval '1 second'`);
  await Promise.all([answerHolds(), answerHolds()]);
  expect(await spentOf(site)).toEqual([10, 10]);
  await spending.settle(site, reservation, 30);
  expect(await spentOf(site)).toEqual([30, 30]);
});

it('is tried again soon while calls in flight hold the budget, and on the next day once it is spent', async () => {
  const { pool } = database;
  const spending = createAnswerSpendingStore(pool);
  const site = await seedSite(pool);
  const limited = { ...call, organizationMicros: 100 };
  const reservation = await spending.reserve(site, limited);
  if ('spent' in reservation) throw new Error('The call was refused.');
  expect(await spending.reserve(site, limited)).toEqual({ spent: 'organization', retryAfterSeconds: 30 });
  await spending.settle(site, reservation, 100);
  const { rows } = await pool.query(
    `select extract(epoch from (now() at time zone 'utc')::date + 1 - now() at time zone 'utc')::float8 as left`,
  );
  const refused = await spending.reserve(site, limited);
  expect(refused).toEqual({ spent: 'organization', retryAfterSeconds: expect.closeTo(rows[0].left, -1) });
});
