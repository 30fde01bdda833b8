import { expect, it } from 'vitest';
import { createIdleJobs } from '../../../db/for-worker/idle-jobs.ts';
import { buildJob, buildProject } from '../../support/build.ts';
import { createTestDatabase } from '../../support/database.ts';

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
