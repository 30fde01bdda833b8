import { expect, it } from 'vitest';
import { createDueWorkStore } from '../../../db/for-worker/due-work.ts';
import { createWorkerHistoryStore } from '../../../db/for-worker/job-histories.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createPullRequestMergeStore } from '../../../db/for-worker/pull-request-merges.ts';
import { createWorkerPullRequestStore } from '../../../db/for-worker/pull-requests.ts';
import { createSiteIndexing } from '../../../db/for-worker/site-indexing.ts';
import { createWebhookStarts } from '../../../db/for-worker/webhooks/webhook-starts.ts';
import { buildJob, buildProject, buildSite } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { buildWebhook } from '../webhooks/webhook-worker.ts';

it('reports each kind of work from its request until a worker has claimed it', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const due = async () => {
    const kinds = Object.entries(await createDueWorkStore(pool).poll());
    return kinds.filter(([, isDue]) => isDue).map(([kind]) => kind);
  };
  const project = await buildProject(pool);
  const site = await buildSite(pool);
  expect(await due()).toEqual([]);

  const sites = createSiteIndexing(pool);
  await sites.requestIndex(site.id);
  expect(await due()).toEqual(['indexRequests']);
  await sites.answerIndexRequest(site.id, (await sites.startIndexRun(site.id))!);
  expect(await due()).toEqual([]);

  await buildWebhook(pool, project, {});
  const job = await buildJob(pool, project);
  expect(await due()).toEqual(['webhookStarts']);
  const starts = createWebhookStarts(pool);
  const claim = { limit: 10, leaseMs: 60_000 };
  expect(await starts.claimStarts(claim)).toHaveLength(1);
  expect(await due()).toEqual([]);

  const jobs = createWorkerJobStore(pool);
  await jobs.finish({ jobId: job.id, turn: 1, status: 'failed', failureCategory: 'internal' });
  await starts.claimStarts(claim);
  expect(await due()).toEqual(['histories']);
  expect(await createWorkerHistoryStore(pool).claimDue(claim)).toHaveLength(1);
  expect(await due()).toEqual([]);

  const wanted = { repository: '/srv/a.git', head: 'a', base: 'main', title: 'x', body: '', draft: false };
  const { id } = await createWorkerPullRequestStore(pool).create(wanted);
  expect(await due()).toEqual([]);
  await pool.query('update pull_requests set merge_requested_at = now() where id = $1', [id]);
  expect(await due()).toEqual(['merges']);
  await createPullRequestMergeStore(pool).refused(id, 'The branch is gone.');
  expect(await due()).toEqual([]);
});
