import { expect, it } from 'vitest';
import { operatorOf } from '../../../../db/caller.ts';
import { createRetentionStore } from '../../../../db/for-worker/retention.ts';
import { newId } from '../../../../db/ids.ts';
import { createJobForkStore } from '../../../../db/jobs/job-forks.ts';
import { SnapshotRemovedError } from '../../../../db/jobs/snapshot-removed.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../../api/serve.ts';

const limits = { jobDays: 365, transcriptDays: 180, auditDays: 730, snapshotBytes: 2 ** 40, threads: 1e6 };

it('the transcript of a job expires before the job, which says so and keeps its outcome', async () => {
  await using database = await createTestDatabase();
  const project = await buildProject(database.pool);
  const { key } = await buildKey(database.pool, project);
  const ago = (days: number) => new Date(Date.now() - days * 86_400_000);
  const ended = {
    status: 'archived',
    headTree: 'tree-1',
    steps: 1,
    prLink: 'https://example.com/1',
    message: 'Done',
  } as const;
  const [old, newer] = [
    await buildJob(database.pool, project, { ...ended, archivedAt: ago(181) }),
    await buildJob(database.pool, project, { ...ended, archivedAt: ago(179) }),
  ];
  for (const { id } of [old, newer]) {
    await database.pool.query(
      `insert into job_steps (job_id, turn, step, response, tree, patch)
       values ($1, 1, 1, '{"text": "Painted", "content": [], "toolCalls": []}', 'tree-1', '+paint')`,
      [id],
    );
    await database.pool.query(
      `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions)
       values ($1, 'tree-0', 'c', 'b', 'pack', '+', 1, 1, 0), ($1, 'tree-1', 'c', 'b', 'pack', '+paint', 3, 27, 1)`,
      [id],
    );
    await database.pool.query(
      `insert into job_effects (job_id, turn, effect, result) values ($1, 1, 'push', '{"commit": "c1"}'), ($1, 1, 'instructions', '{}')`,
      [id],
    );
  }
  await database.pool.query("insert into job_images select id, 'h', 'x' from jobs");
  await database.pool.query("insert into job_tools select id, 'h', '[]' from jobs");
  const retention = createRetentionStore(database.pool);
  await retention.sweep({ ...limits, transcriptDays: 0 });
  await using api = await serveApi(database.pool);
  const status = async (path: string, json?: unknown) => {
    const { status, body } = await api.ask(path, { key, json });
    return [status, body?.error ?? ''];
  };
  expect(await status(`/v2/agent/${project.id}/job/${old.id}/steps`)).toEqual([200, '']);
  expect(await retention.sweep(limits)).toBe(false);
  expect(await status(`/v2/agent/${project.id}/job/${newer.id}/steps`)).toEqual([200, '']);
  const expired = [409, expect.stringContaining('transcript of this job has expired')];
  const of = `/v2/agent/${project.id}/job/${old.id}`;
  for (const path of [`${of}/steps`, `${of}/steps/1/1`, `${of}/steps/1/1/diff`, `${of}/diff`])
    expect([path, await status(path)]).toEqual([path, expired]);
  expect(await status(`${of}/fork`, { step: 1 })).toEqual(expired);
  expect((await api.ask(`${of}/turns`, { key })).body).toMatchObject({
    turns: [{ prompt: 'Fix the typo.', headCommit: 'c1' }],
  });
  const { body } = await api.ask('/v1/jobs', { key });
  expect(body.jobs.find(({ id }: { id: string }) => id === old.id)).toMatchObject({
    changedFiles: 3,
    additions: 27,
    deletions: 1,
  });
  expect(
    (await database.pool.query('select octet_length(pack) as bytes from job_snapshots where job_id = $1', [old.id]))
      .rows,
  ).toEqual([{ bytes: 0 }]);
  for (const table of ['job_images', 'job_tools']) {
    const { rows } = await database.pool.query(`select job_id from ${table}`);
    expect(rows).toEqual([{ job_id: newer.id }]);
  }
});

it('files that only an expired job had are missed by the forks of its forks', async () => {
  await using database = await createTestDatabase();
  const { pool } = database;
  const project = await buildProject(pool);
  const job = await buildJob(pool, project, { status: 'completed', headTree: 'tree-2', baseCommit: 'b' });
  await pool.query(
    `insert into job_steps (job_id, turn, step, response, tool_results, tree)
     select $1, 1, step, '{"text": "", "content": [], "toolCalls": [{"toolCallId": "a", "toolName": "list", "input": {}}]}',
            '[]', 'tree-' || step
     from generate_series(1, 2) as step`,
    [job.id],
  );
  await pool.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions)
     select $1, 'tree-' || step, 'c', 'b', 'pack', '+', 1, 1, 0 from generate_series(1, 2) as step`,
    [job.id],
  );
  const forks = createJobForkStore(pool);
  async function fork(jobId: string, step: number): Promise<string> {
    const id = newId('job_');
    const request = { id, from: { jobId, turn: 1, step }, models: null, prompt: null, idempotency: null };
    expect(await forks.fork(operatorOf(project), request)).toMatchObject({ kind: 'created' });
    return id;
  }
  const made = await fork(job.id, 2);
  await fork(made, 1);
  await pool.query(`update jobs set status = 'archived', archived_at = now() - interval '181 days' where id = $1`, [
    job.id,
  ]);
  await createRetentionStore(pool).sweep(limits);
  const later = await fork(made, 2);
  for (const id of [made, later]) await expect(fork(id, 1)).rejects.toThrow(SnapshotRemovedError);
});
