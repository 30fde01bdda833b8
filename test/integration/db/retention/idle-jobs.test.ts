import { expect, it } from 'vitest';
import { createIdleJobs } from '../../../../db/for-worker/idle-jobs.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';

it('reports which jobs ended long enough ago, or no longer exist', async () => {
  await using database = await createTestDatabase();
  const project = await buildProject(database.pool, {});
  const hourAgo = new Date(Date.now() - 3_600_000);
  const active = await buildJob(database.pool, project, {});
  const ended = await buildJob(database.pool, project, { status: 'completed', phase: null, endedAt: hourAgo });
  const archived = await buildJob(database.pool, project, { status: 'archived', phase: null, endedAt: hourAgo });
  const justNow = await buildJob(database.pool, project, { status: 'failed', phase: null, endedAt: new Date() });
  const ids = [active, ended, archived, justNow].map(({ id }) => id);
  const idleJobs = createIdleJobs(database.pool);
  const found = await idleJobs.endedAmong([...ids, 'job_of-nobody'], { forMs: 60_000 });
  expect(found.toSorted()).toEqual([ended.id, archived.id, 'job_of-nobody'].toSorted());
  expect(await idleJobs.endedAmong([], { forMs: 0 })).toEqual([]);
});

it('lists active jobs without a recent write, but none that waits for a person', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool, {});
  const [working, waiting] = [await buildJob(pool, project, {}), await buildJob(pool, project, { planReview: true })];
  const wait = { jobId: waiting.id, turn: 1, title: 'Plan', plan: 'Do it.', question: null, days: 7 };
  expect(await createWorkerJobStore(pool).wait(wait)).toBe(true);
  await pool.query('delete from job_outbox'); // both have started
  await pool.query(`update jobs set updated_at = now() - interval '1 hour'`);
  const listed = await createIdleJobs(pool).list({ idleMs: 60_000, after: '', limit: 10 });
  expect(listed).toEqual([{ jobId: working.id, turn: 1 }]);
});
