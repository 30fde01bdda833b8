import { expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createRetentionStore } from '../../../../db/for-worker/retention.ts';
import { storeSnapshot } from '../../../../db/for-worker/snapshots.ts';
import { countHeld } from '../../../../db/migrations/0110-organization-totals.ts';
import { createErasure } from '../../../../db/organizations/erasure.ts';
import { withTransaction } from '../../../../db/pool.ts';
import { buildJob, buildProject, buildSite } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { createRandom } from '../../../suites/chaos/plans/random.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const limits = { snapshotBytes: 2 ** 40, threads: 1e6 };
const ages = { jobDays: 365, transcriptDays: 180, auditDays: 730 };

const run = (statement: string, values: unknown[] = []) => database.pool.query(statement, values);

const totals = async () =>
  (await run('select id, snapshot_bytes::int as bytes, threads::int as threads from organizations order by id')).rows;

/** Counts the rows that organizations have, to compare them with their totals. */
const held = async () =>
  (
    await run(
      `select id, (select count(*)::int from threads where organization_id = organizations.id) as threads,
              (select coalesce(sum(bytes), 0)::int from (
                 select job_id, octet_length(pack) + octet_length(patch) as bytes from job_snapshots
                 union all select job_id, octet_length(patch) from job_steps where patch is not null
               ) as sizes where job_id in (select id from jobs where organization_id = organizations.id)) as bytes
       from organizations order by id`,
    )
  ).rows;

const snapshot = (tree: string, size: number) => ({
  tree,
  commit: tree,
  baseCommit: 'base',
  pack: Buffer.alloc(size, tree),
  patch: '+',
  changedFiles: 1,
  additions: 1,
  deletions: 0,
});

const addStep = async (jobId: string, step: number, patch: string | null) =>
  void (await run(
    `insert into job_steps (job_id, turn, step, tree, patch, response) values ($1, 1, $2, $3, $4, '{}') on conflict do nothing`,
    [jobId, step, `tree-${step}`, patch],
  ));
const addSnapshot = (jobId: string, step: number, size: number, maxBytes?: number) =>
  withTransaction(database.pool, (client) => storeSnapshot(client, jobId, snapshot(`tree-${step}`, size), maxBytes));

it('the totals of organizations are what they hold, whatever is written and removed', async () => {
  const { pool } = database;
  const projects = [await buildProject(pool), await buildProject(pool)];
  const sites = await Promise.all(projects.map(({ organizationId }) => buildSite(pool, { organizationId })));
  const jobs = await Promise.all([0, 0, 0, 1, 1, 1].map((at) => buildJob(pool, projects[at]!)));
  const { between, pick } = createRandom(7);
  const retention = createRetentionStore(pool);
  const erasure = createErasure(pool);
  let threads = 0;
  const operations = [
    () => addStep(pick(jobs).id, between(1, 9), pick([null, '+', '+'.repeat(50)])),
    () => addSnapshot(pick(jobs).id, between(1, 9), between(1, 1_000)),
    () => addSnapshot(pick(jobs).id, between(1, 9), 100, 300),
    () => run(`update job_steps set patch = $2 where job_id = $1`, [pick(jobs).id, pick([null, '-'.repeat(20)])]),
    async () => {
      const site = pick(sites);
      await run(
        `insert into threads (id, site_id, organization_id, fp) select 'thr_' || number, $1, $2, 'x' from generate_series($3::int, $4::int) as number`,
        [site.id, site.organizationId, threads, (threads += 3) - 1],
      );
    },
    () => run(`delete from threads where id = $1`, [`thr_${between(0, threads)}`]),
    () => retention.bound(limits),
    () => retention.bound({ snapshotBytes: 2_000, threads: 5 }),
  ];
  for (let round = 0; round < 100; round += 1) await pick(operations)();
  await retention.bound(limits);
  expect(await totals()).toEqual(await held());

  const [first, second, third] = jobs;
  await run(`update jobs set status = 'archived', archived_at = now() - interval '1 year' where id = $1`, [first!.id]);
  await retention.sweep({ ...ages, jobDays: 0 });
  await erasure.job(operatorOf(second!), second!.id);
  await addSnapshot(third!.id, 1, 500);
  await erasure.project(operatorOf(projects[1]!), projects[1]!.id);
  await retention.bound(limits);
  expect(await totals()).toEqual(await held());
  expect((await totals()).find(({ id }) => id === projects[0]!.organizationId).bytes).toBeGreaterThan(0);

  await run('update organizations set snapshot_bytes = 7, threads = 7');
  await addSnapshot(third!.id, 2, 500);
  await run(countHeld);
  await retention.bound(limits);
  expect(await totals()).toEqual(await held());
  expect((await run('select from organization_growth')).rowCount).toBe(0);
});

it('what a job adds after its snapshots were removed is removed after those of the newest job', async () => {
  const { pool } = database;
  const project = await buildProject(pool);
  const jobs = [await buildJob(pool, project), await buildJob(pool, project)];
  const retention = createRetentionStore(pool);
  const contents = async () =>
    (
      await run(
        `select tree from job_snapshots join jobs on jobs.id = job_id
         where organization_id = $1 and removed_at is null order by jobs.created_at, tree`,
        [project.organizationId],
      )
    ).rows.map(({ tree }) => tree);
  for (const step of [1, 2])
    for (const { id } of jobs) {
      await addStep(id, step, '+');
      await addSnapshot(id, step, 1_000);
    }
  await retention.bound({ ...limits, snapshotBytes: 3_500 });
  expect(await contents()).toEqual(['tree-2', 'tree-1', 'tree-2']);
  await retention.bound({ ...limits, snapshotBytes: 1 });
  expect(await contents()).toEqual(['tree-2', 'tree-2']);
  await addStep(jobs[0]!.id, 3, '+');
  await addSnapshot(jobs[0]!.id, 3, 1_000);
  await retention.bound({ ...limits, snapshotBytes: 2_500 });
  expect(await contents()).toEqual(['tree-3', 'tree-2']);
});

it('the tree of before the review of an active turn is kept, because it is published if the review is cut off', async () => {
  const { pool } = database;
  const { id } = await buildJob(pool, await buildProject(pool));
  const retention = createRetentionStore(pool);
  const contents = async () =>
    (await run('select tree from job_snapshots where job_id = $1 and removed_at is null order by tree', [id])).rows.map(
      ({ tree }) => tree,
    );
  for (const step of [1, 2, 3, 4]) {
    await addStep(id, step, '+');
    await addSnapshot(id, step, 1_000);
  }
  await run(`insert into job_notes (job_id, turn, step, kind, text) values ($1, 1, 3, 'self-review', '')`, [id]);
  await addSnapshot(id, 4, 1_000, 1);
  expect(await contents()).toEqual(['tree-2', 'tree-4']);
  await retention.bound({ ...limits, snapshotBytes: 1 });
  expect(await contents()).toEqual(['tree-2', 'tree-4']);
  await run(`update jobs set status = 'completed' where id = $1`, [id]);
  await retention.bound({ ...limits, snapshotBytes: 1 });
  expect(await contents()).toEqual(['tree-4']);
});

it('a round ends after thousands of jobs without anything to remove, and the next one continues', async () => {
  const { pool } = database;
  const project = await buildProject(pool);
  await run(
    `insert into jobs (id, project_id, organization_id, status, repository, model, title, branch, created_at)
     select 'job_idle' || number, $1, $2, 'completed', 'https://github.com/acme/docs', 'offline/editor', '', '',
            '2026-01-01Z'::timestamptz + number * interval '1 second'
     from generate_series(1, 5200) as number`,
    [project.id, project.organizationId],
  );
  await run('update organizations set snapshot_bytes = 10 where id = $1', [project.organizationId]);
  const retention = createRetentionStore(pool);
  const to = async () =>
    (
      await run(
        `select extract(epoch from snapshots_removed_to - '2026-01-01Z')::int as job from organizations where id = $1`,
        [project.organizationId],
      )
    ).rows[0].job;
  await retention.bound({ ...limits, snapshotBytes: 1 });
  expect(await to()).toBe(5_000);
  await retention.bound({ ...limits, snapshotBytes: 1 });
  expect(await to()).toBeNull();
});
