import { describe, expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createGapCheckStore } from '../../../../db/for-service/gap-checks.ts';
import { createGapStore, type NewGap } from '../../../../db/sites/gaps.ts';
import { withTransaction } from '../../../../db/pool.ts';
import { buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { newJob, seedSite } from '../seed.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

function gapOf(siteId: string): NewGap {
  const question = {
    key: 'android',
    text: 'Is there an app?',
    count: 1,
    lastAskedAt: new Date(),
    notFound: 1,
    votedDown: 0,
  };
  return { siteId, id: 'gap_android', label: 'Is there an app?', questions: [question] };
}

/** Deletes the site as soon as `work` waits for it. */
async function deletedBeneath(siteId: string, work: () => Promise<unknown>) {
  const { pool } = database;
  return withTransaction(pool, async (client) => {
    await client.query('select from sites where id = $1 for update', [siteId]);
    const working = work();
    await untilBlocked(database);
    await client.query('delete from sites where id = $1', [siteId]);
    return { working };
  });
}

it('a gap stays in progress until all of its questions have been asked again', async () => {
  const { pool } = database;
  const [gaps, checks] = [createGapStore(pool), createGapCheckStore(pool)];
  const site = await seedSite(pool);
  const ref = { siteId: site.id, gapId: 'gap_android' };
  const stateOf = async () => (await gaps.list(site, 10))[0]?.state;
  await gaps.recheck(operatorOf(site), gapOf(site.id));
  await pool.query('update sites set index_requested_at = null where id = $1', [site.id]);
  expect(await checks.claim({ seconds: 60, after: '' })).toMatchObject({ siteId: site.id });
  await checks.conclude(ref);
  expect(await stateOf()).toBe('asking');
  await checks.recordAnswer({ ...ref, key: 'android', answered: true, seconds: 60 });
  await checks.conclude(ref);
  expect(await stateOf()).toBe('answered');
});

it('a gap that is dismissed while its questions are asked again keeps its check and their answers', async () => {
  const { pool } = database;
  const [gaps, checks] = [createGapStore(pool), createGapCheckStore(pool)];
  const site = await seedSite(pool);
  const caller = operatorOf(site);
  const ref = { siteId: site.id, gapId: 'gap_android' };
  await gaps.recheck(caller, gapOf(site.id));
  await pool.query('update sites set index_requested_at = null where id = $1', [site.id]);
  await checks.claim({ seconds: 600, after: '' });
  await checks.recordAnswer({ ...ref, key: 'android', answered: true, seconds: 600 });
  await gaps.dismiss(caller, gapOf(site.id));
  expect(await gaps.list(site, 10)).toMatchObject([{ state: 'dismissed', questions: [{ answeredNow: true }] }]);
  const { rows } = await pool.query('select claimed_until > now() as claimed from gaps where site_id = $1', [site.id]);
  expect(rows).toEqual([{ claimed: true }]);
  await checks.conclude(ref);
  await gaps.restore(caller, gapOf(site.id));
  expect(await gaps.list(site, 10)).toMatchObject([{ state: 'answered' }]);
});

it('the gaps of organizations are checked in turns, however many one has', async () => {
  const { pool } = database;
  const [gaps, checks] = [createGapStore(pool), createGapCheckStore(pool)];
  const [busy, quiet] = [await seedSite(pool), await seedSite(pool)];
  for (const id of ['gap_one', 'gap_two', 'gap_three']) await gaps.recheck(operatorOf(busy), { ...gapOf(busy.id), id });
  await gaps.recheck(operatorOf(quiet), gapOf(quiet.id));
  await pool.query('update sites set index_requested_at = null');
  const organizations: string[] = [];
  for (let after = ''; organizations.length < 4; organizations.push(after))
    after = (await checks.claim({ seconds: 60, after }))?.organizationId ?? 'none';
  expect(organizations.slice(0, 2).toSorted()).toEqual([busy.organizationId, quiet.organizationId].toSorted());
  expect(organizations.slice(2)).toEqual([busy.organizationId, busy.organizationId]);
});

describe('a site that is deleted while its gaps', () => {
  it('are being asked again is gone with them', async () => {
    const gaps = createGapStore(database.pool);
    const site = await seedSite(database.pool);
    const recheck = () => gaps.recheck(operatorOf(site), gapOf(site.id));
    await recheck();
    const { working } = await deletedBeneath(site.id, recheck);
    await working;
    expect(await gaps.list(site, 10)).toEqual([]);
  });

  it('are found to be merged is gone with them', async () => {
    const { pool } = database;
    const gaps = createGapStore(pool);
    const site = await seedSite(pool);
    const { id: projectId } = await buildProject(pool, { organizationId: site.organizationId });
    const job = newJob({ projectId });
    const begin = () => gaps.begin(operatorOf(site), gapOf(site.id), { number: 1, job });
    const [begun, again] = await Promise.all([begin(), begin()]);
    expect([begun, again].map((one) => one?.job.id ?? null).toSorted()).toEqual([job.id, null].toSorted());
    await pool.query(`update jobs set pr_state = 'merged' where id = $1`, [job.id]);
    const { working } = await deletedBeneath(site.id, () => createGapCheckStore(pool).noteMerged());
    expect(await working).toBe(0);
    expect(await gaps.list(site, 10)).toEqual([]);
  });
});
