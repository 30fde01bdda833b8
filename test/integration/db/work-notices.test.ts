import { Client } from 'pg';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createDueChoreStore } from '../../../db/for-service/due-chores.ts';
import { createPullRequestMergeStore } from '../../../db/for-worker/pull-request-merges.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createWebhookStarts } from '../../../db/for-worker/webhooks/webhook-starts.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createOutboxStore } from '../../../db/jobs/outbox.ts';
import { createWorkNotices } from '../../../db/work-notices.ts';
import { buildJob, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { buildWebhook } from '../webhooks/webhook-worker.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
afterEach(() => void vi.useRealTimers());

it('every kind of work is announced when it is written, and not when it is claimed', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  await using notices = await listenTo(database.url);
  const project = await buildProject(pool);
  const site = await buildSite(pool);
  await notices.take();

  const sites = createSiteIndexing(pool);
  await sites.requestIndex(site.id);
  expect(await notices.take()).toBe(1);
  await sites.answerIndexRequest(site.id, (await sites.startIndexRun(site.id))!);
  expect(await notices.take()).toBe(0);
  for (const version of [1, 1])
    await pool.query('update sites set index_version = $2 where id = $1', [site.id, version]);
  expect(await notices.take()).toBe(1);

  const job = await buildJob(pool, project);
  expect(await notices.take()).toBe(1);
  const claim = { limit: 10, leaseMs: 60_000 };
  expect(await createOutboxStore(pool).claimDue(claim)).toHaveLength(1);
  expect(await notices.take()).toBe(0);

  await createWorkerJobStore(pool).finish({ jobId: job.id, turn: 1, status: 'failed', failureCategory: 'internal' });
  expect(await notices.take()).toBe(1);
  await pool.query(`update jobs set pr_state = 'merged' where id = $1`, [job.id]);
  expect(await notices.take()).toBe(1);

  await buildWebhook(pool, project, {});
  const { id } = await buildJob(pool, project);
  await notices.take();
  await pool.query('delete from job_outbox');
  expect(await createWebhookStarts(pool).claimStarts(claim)).toHaveLength(1);
  expect(await notices.take()).toBe(0);
  await pool.query(`update webhook_deliveries set start_at = now()`);
  expect(await notices.take()).toBe(1);
  await asOperator(pool).cancel(id);
  expect(await notices.take()).toBe(1);

  const wanted = { repository: '/srv/a.git', head: 'a', base: 'main', title: 'x', body: '', draft: false };
  const request = await createWorkerPullRequestStore(pool).create(wanted);
  expect(await notices.take()).toBe(0);
  await pool.query('update pull_requests set merge_requested_at = now() where id = $1', [request.id]);
  expect(await notices.take()).toBe(1);
  await createPullRequestMergeStore(pool).refused(request.id, 'The branch is gone.');
  expect(await notices.take()).toBe(0);
});

it('an API process sees starts, cancellations and gaps that are due', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const chores = createDueChoreStore(pool);
  const nothing = { starts: false, cancels: false, gapChecks: false, evaluations: false };
  expect(await chores.poll()).toEqual(nothing);
  const { id } = await buildJob(pool, await buildProject(pool));
  expect(await chores.poll()).toEqual({ ...nothing, starts: true });
  await asOperator(pool).cancel(id);
  expect(await chores.poll()).toEqual({ ...nothing, cancels: true });
  await pool.query('delete from job_cancels');
  const site = await buildSite(pool);
  await pool.query(
    `insert into gaps (site_id, id, label, state, job_id) values ($1, 'gap_one', 'One', 'working', $2)`,
    [site.id, id],
  );
  expect(await chores.poll()).toEqual(nothing);
  await pool.query(`update jobs set pr_state = 'merged' where id = $1`, [id]);
  expect(await chores.poll()).toEqual({ ...nothing, gapChecks: true });
  await pool.query(`update gaps set state = 'indexing'`);
  expect(await chores.poll()).toEqual({ ...nothing, gapChecks: true });
  await pool.query(`update gaps set state = 'answered'`);
  expect(await chores.poll()).toEqual(nothing);
});

it('a process is quiet 15 seconds after the last notice, and never while the connection is down', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const { id } = await buildSite(pool);
  const applicationName = `work-${crypto.randomUUID()}`;
  await using notices = createWorkNotices({ url: database.url, applicationName, reopenEveryMs: 3_600_000 });
  const until = async (isQuiet: boolean) => {
    while (notices.isQuiet() !== isQuiet) await pool.query('select 1');
  };
  expect(notices.isQuiet()).toBe(false);
  const pass = (ms: number) => vi.advanceTimersByTime(ms);
  while (!notices.isQuiet()) {
    pass(15_000);
    await pool.query('select 1');
  }
  await createSiteIndexing(pool).requestIndex(id); // one notice
  await until(false);
  pass(14_999);
  expect(notices.isQuiet()).toBe(false);
  pass(1);
  expect(notices.isQuiet()).toBe(true);
  await pool.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
    applicationName,
  ]);
  await until(false);
  pass(15_000);
  expect(notices.isQuiet()).toBe(false);
});

/** Counts the commits that announce work. */
async function listenTo(url: string) {
  const client = new Client({ connectionString: url });
  let heard = 0;
  client.on('notification', () => (heard += 1));
  await client.connect();
  await client.query('listen due_work');
  return {
    async take(): Promise<number> {
      await client.query('select 1');
      const count = heard;
      heard = 0;
      return count;
    },
    [Symbol.asyncDispose]: () => client.end(),
  };
}
