import { expect, it } from 'vitest';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createJobBranchStore } from '../../../../db/for-worker/job-branches.ts';
import { createJobEventWakeups } from '../../../../db/jobs/job-event-wakeups.ts';
import { createJobStore } from '../../../../db/jobs/jobs.ts';
import { createPolledJobs } from '../../../../db/jobs/polled-jobs.ts';
import { createPool } from '../../../../db/pool.ts';
import { buildJob, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';

it('shows what another process wrote once its notice arrives, and costs no statement until then', async () => {
  await using database = await createTestDatabase();
  const { url, pool } = database;
  const other = createPool({ url, maxConnections: 2, applicationName: 'worker' });
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => other.end());
  await using wakeups = createJobEventWakeups({ url, pool, pollMs: 3_600_000 });
  const project = await buildProject(pool);
  const job = await buildJob(pool, project);
  let reads = 0;
  const { find } = createJobStore(pool);
  const polled = createPolledJobs({ pool, wakeups, find: (...asked) => ((reads += 1), find(...asked)) });
  const poll = () => polled.find(project, project.id, job.id);
  const opened = Promise.withResolvers<void>();
  wakeups.onAnyChange((changed) => void (changed === null && opened.resolve()));
  await opened.promise;

  async function pollAfter(write: () => Promise<unknown>) {
    await poll();
    const before = reads;
    await Promise.all([poll(), poll()]);
    expect(reads).toBe(before);
    const { promise, resolve } = Promise.withResolvers<void>();
    // called after the handler of the polled jobs
    using _changes = wakeups.onAnyChange((changed) => void (changed === job.id && resolve()));
    await write();
    await promise;
    return poll();
  }

  await poll();
  const worker = createWorkerJobStore(other);
  const running = await pollAfter(() => worker.setPhase({ jobId: job.id, turn: 1, phase: 'running' }));
  expect(running).toMatchObject({ phase: 'running' });
  await other.query(`update jobs set pr_id = '7' where id = $1`, [job.id]);
  const standing = { jobId: job.id, prId: '7', state: 'merged', draft: false } as const;
  expect(await pollAfter(() => createJobBranchStore(other).setPullRequestState(standing))).toMatchObject({
    prState: 'merged',
  });
});
