import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createChoreClaims } from '../../../../db/for-worker/chores.ts';
import { createRetentionStore } from '../../../../db/for-worker/retention.ts';
import { createRetentionChores } from '../../../../worker/chores/retention-chores.ts';
import { buildOrganization, buildSite } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const limits = { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 2 ** 40, threads: 1e6 };

it('a round bounds what organizations hold once, however many batches it sweeps', async () => {
  const turns: string[] = [];
  const swept = Promise.withResolvers<void>();
  const retention = {
    bound: async () => void turns.push('bound'),
    async sweep() {
      turns.push('sweep');
      if (turns.length < 4) return true;
      swept.resolve();
      return false;
    },
  };
  const chores = createChoreClaims(database.pool);
  await using _chores = createRetentionChores({
    retention,
    chores,
    limits,
    log: pino({ level: 'silent' }),
    everyMs: 50,
  });
  await swept.promise;
  expect(turns.slice(0, 4)).toEqual(['bound', 'sweep', 'sweep', 'sweep']);
});

it('conversations beyond the limit of an organization are removed, the oldest first', async () => {
  const { pool } = database;
  const site = await buildSite(pool);
  await pool.query(
    `insert into threads (id, site_id, organization_id, fp, updated_at)
     select 'thr_' || number, $1, $2, 'anonymous', now() - number * interval '1 millisecond' from generate_series(1, 1200) as number`,
    [site.id, site.organizationId],
  );
  const retention = createRetentionStore(pool);
  const left = async () =>
    (
      await pool.query(`select id from threads where organization_id = $1 order by updated_at desc`, [
        site.organizationId,
      ])
    ).rows;
  await retention.bound({ ...limits, threads: 1_200 });
  expect(await left()).toHaveLength(1_200);
  await retention.bound({ ...limits, threads: 2 });
  expect(await left()).toEqual([{ id: 'thr_1' }, { id: 'thr_2' }]);
});

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
