import { Pool } from 'pg';
import { expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createIdleJobs } from '../../../../db/for-worker/idle-jobs.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createJobEndings } from '../../../../db/jobs/job-endings.ts';
import { createJobListStore } from '../../../../db/jobs/job-lists.ts';
import { createJobMessageStore } from '../../../../db/jobs/job-messages.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';

it('updates the rows of active jobs in place, without writing to their indexes', { tags: ['slow'] }, async () => {
  await using database = await createTestDatabase();
  const project = await buildProject(database.pool);
  const jobs = await Promise.all(Array.from({ length: 20 }, () => buildJob(database.pool, project)));
  // one connection, whose statistics are flushed below
  const pool = new Pool({ connectionString: database.url, max: 1 });
  const steps = createStepStore(pool);
  for (let step = 1; step <= 20; step += 1)
    for (const { id: jobId } of jobs) {
      await steps.claimAnswer({ jobId, turn: 1, step });
      await steps.storeResponse({
        jobId,
        turn: 1,
        step,
        model: 'offline/editor',
        requestHash: 'hash',
        response: { content: [], text: 'Done', toolCalls: [] },
        finishReason: 'stop',
        usage: { inputTokens: 100, outputTokens: 10 },
        costMicros: 5,
      });
    }
  await pool.query('select pg_stat_force_next_flush()');
  const { rows } = await pool.query(
    `select n_tup_upd::integer as updated, n_tup_hot_upd::integer as hot, n_tup_newpage_upd::integer as moved
     from pg_stat_user_tables where relname = 'jobs'`,
  );
  await pool.end();
  const [{ updated, hot, moved }] = rows;
  expect(updated).toBeGreaterThanOrEqual(400);
  // a row moves when its page is full of versions that transactions of other tests may still see
  expect([updated - hot - moved, hot > moved / 2]).toEqual([0, true]);
});

it('lists each change of a job in the order of the changes, active or not', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool);
  const caller = operatorOf(project);
  const lists = createJobListStore(pool);
  const [first, second] = [await buildJob(pool, project), await buildJob(pool, project)];
  await buildJob(pool, await buildProject(pool));
  let after = { updatedMicros: '0', id: '' };
  const changed = async (limit = 10) => {
    const rows = await lists.listChanged(caller, { after, limit });
    after = { updatedMicros: rows.at(-1)?.updatedMicros ?? '0', id: rows.at(-1)?.id ?? '' };
    return rows.map(({ id, status }) => [id, status]);
  };
  expect([await changed(1), await changed(1), await changed()]).toEqual([
    [[first.id, 'active']],
    [[second.id, 'active']],
    [],
  ]);
  after = { updatedMicros: await lists.nowMicros(), id: '' };
  await createWorkerJobStore(pool).finish({ jobId: second.id, turn: 1, status: 'completed', failureCategory: null });
  await createWorkerJobStore(pool).setPhase({ jobId: first.id, turn: 1, phase: 'running' });
  expect(await changed(1)).toEqual([[second.id, 'completed']]);
  expect(await changed()).toEqual([[first.id, 'active']]);
  await createJobEndings(pool).archive(caller, second.id);
  expect(await changed()).toEqual([[second.id, 'archived']]);
  await createJobEndings(pool).cancel(caller, first.id);
  expect(await changed()).toEqual([[first.id, 'failed']]);
  await createJobMessageStore(pool).send(caller, { jobId: first.id, prompt: 'More', idempotency: null });
  expect(await changed()).toEqual([[first.id, 'active']]);
  expect(await createIdleJobs(pool).list({ idleMs: -60_000, after: '', limit: 10 })).toEqual([]);
});
