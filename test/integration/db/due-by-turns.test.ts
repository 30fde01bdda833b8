import type { Pool } from 'pg';
import { expect, it } from 'vitest';
import { createJobBranchStore } from '../../../db/for-worker/job-branches.ts';
import { createWebhookStarts } from '../../../db/for-worker/webhooks/webhook-starts.ts';
import { withTransaction } from '../../../db/pool.ts';
import { buildJob, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { buildWebhook } from '../webhooks/webhook-worker.ts';

it('work of one organization that is due for long does not keep that of others from its turn', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const busy = await buildProject(pool);
  const quiet = await buildProject(pool);
  for (const [project, count] of [
    [busy, 30],
    [quiet, 2],
  ] as const) {
    await buildWebhook(pool, project, {});
    for (let number = 1; number <= count; number += 1) {
      const { id } = await buildJob(pool, project);
      await pool.query(
        `insert into pull_requests (id, repository, number, head, base, title, body, draft, state, job_id)
         select pull_request_of(id, $2), repository, $2::integer, 'h' || $2, 'main', 'x', '', false, 'open', id
         from jobs where id = $1`,
        [id, String(number)],
      );
      await pool.query(
        `update jobs set status = 'completed', pr_id = $2, pr_link = 'x', pr_state = 'open', ended_at = now() - interval '1 hour' where id = $1`,
        [id, String(number)],
      );
    }
  }
  await pool.query(`update jobs set ended_at = now() - interval '1 day' where project_id = $1`, [busy.id]);
  await pool.query(
    `update pull_requests set check_due_at = now() - case organization_id when $1 then interval '2 days' else interval '1 day' end`,
    [busy.organizationId],
  );
  const branches = createJobBranchStore(pool);
  const starts = createWebhookStarts(pool);
  const countOf = (claimed: { organizationId: string }[]) =>
    [busy, quiet].map(({ organizationId }) => claimed.filter((one) => one.organizationId === organizationId).length);
  await withTransaction(pool, async (other) => {
    const others = createJobBranchStore(other as unknown as Pool);
    expect(countOf(await others.claimOpenPullRequests({ limit: 10 }))).toEqual([8, 2]);
    // what another process claims at this moment is passed over
    expect(countOf(await branches.claimOpenPullRequests({ limit: 10 }))).toEqual([10, 0]);
  });
  expect(countOf(await branches.claimClosedPullRequests({ limit: 10 }))).toEqual([8, 2]);
  // each job was created and has ended
  expect(countOf(await starts.claimStarts({ limit: 10, leaseMs: 60_000 }))).toEqual([6, 4]);
});
