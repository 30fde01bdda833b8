import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { pullRequestSchema } from '../../../../api/pull-requests/routes.ts';
import { createPullRequestMergeStore } from '../../../../db/for-worker/pull-request-merges.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { withTransaction } from '../../../../db/pool.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { createMergeChores } from '../../../../worker/chores/merge-chores.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));
const project = ofFile(() => buildProject(database.pool));
const admin = ofFile(() => buildKey(database.pool, project));

async function open({ draft = false, owner = project } = {}) {
  const { pool } = database;
  const job = await buildJob(pool, owner, { status: 'completed' });
  const row = await createWorkerPullRequestStore(pool).create({
    repository: '/srv/repositories/lamp.git',
    head: `docket/${job.id}-fix`,
    base: 'main',
    title: '<b>Fix</b>',
    body: 'What was asked.',
    draft,
  });
  await pool.query(`update jobs set pr_id = $2, pr_link = 'http://x', pr_state = 'open' where id = $1`, [
    job.id,
    row.id,
  ]);
  await pool.query(`insert into job_effects (job_id, turn, effect, result) values ($1, 1, 'push', $2)`, [
    job.id,
    JSON.stringify({ commit: 'c'.repeat(40), tree: 't' }),
  ]);
  const ask = (action = '', key = admin.key) =>
    api.ask(`/v1/pull-requests/${row.id}${action}`, { key, ...(action === '' ? {} : { method: 'POST' }) });
  const stateOfJob = async () =>
    (await pool.query('select pr_state from jobs where id = $1', [job.id])).rows[0]?.pr_state;
  return { id: row.id, job, ask, stateOfJob };
}

const nowhere = async () => null;
const noForge = {
  checkRepository: async () => undefined,
  forgeOf: nowhere,
  mergeProblem: nowhere,
  repositoryOf: nowhere,
};
const merges = () => createPullRequestMergeStore(database.pool);

describe('a pull request of the local forge', () => {
  it('is checked and merged as often as the limit of its organization allows, since each asks a forge', async () => {
    const { ask } = await open();
    expect((await ask('/check')).status).toBe(202);
    await database.pool.query('update rate_limits set current = 3000');
    const refused = await Promise.all([ask('/check'), ask('/merge'), ask()]);
    await database.pool.query('delete from rate_limits');
    expect(refused.map(({ status }) => status)).toEqual([429, 429, 200]);
    expect(refused[0].headers.get('ratelimit-policy')).toBe('"pull-request";q=3000;w=3600');
  });

  it('is shown with its job and commits to its organization only', async () => {
    const { ask, job } = await open();
    const { body } = await ask();
    expect(pullRequestSchema.strict().parse(body)).toMatchObject({
      title: '<b>Fix</b>',
      state: 'open',
      job: { id: job.id, projectId: project.id },
      commits: [{ id: 'c'.repeat(40), turn: 1, title: '<b>Fix</b>' }],
      merge: { isMerging: false, problem: null, commit: null },
    });
    const other = await buildKey(database.pool, await buildProject(database.pool));
    expect((await ask('', other.key)).status).toBe(404);
    expect((await ask('/merge', other.key)).status).toBe(404);
  });

  it('is merged by one worker, once, and the merge is recorded for its job', async () => {
    const { id, ask, stateOfJob } = await open();
    const asked = await ask('/merge');
    expect([asked.status, asked.body.merge.isMerging]).toEqual([202, true]);
    expect((await ask('/close')).status).toBe(409);
    expect((await merges().claimMerge())?.id).toBe(id);
    expect(await merges().claimMerge()).toBeNull();
    await merges().merged(id, 'd'.repeat(40));
    expect((await ask()).body).toMatchObject({ state: 'merged', merge: { isMerging: false, commit: 'd'.repeat(40) } });
    expect(await stateOfJob()).toBe('merged');
    expect((await ask('/merge')).status).toBe(202);
    expect((await ask('/close')).status).toBe(409);
    expect(await merges().claimMerge()).toBeNull();
  });

  it('is picked up again when the worker that was merging it is killed', async () => {
    const { id, ask } = await open();
    await ask('/merge');
    await merges().claimMerge();
    await database.pool.query(
      `update pull_requests set merge_claimed_at = now() - interval '2 minutes' where id = $1`,
      [id],
    );
    expect((await merges().claimMerge())?.id).toBe(id);
    await merges().refused(id, 'The branch is gone.');
  });

  it('is not merged by a worker that was suspended until the merge was refused and the pull request closed', async () => {
    const { id, ask, stateOfJob } = await open();
    await ask('/merge');
    let pushes = 0;
    let refusals = 0;
    await using _chores = createMergeChores({
      merges: merges(),
      granted: noForge,
      async mergeBranch({ beforePush }) {
        await merges().refused(id, 'The branch is gone.');
        expect((await ask('/close')).status).toBe(200);
        await beforePush().catch((error: unknown) => {
          refusals += 1;
          throw error;
        });
        pushes += 1;
        return { kind: 'merged', commit: 'd'.repeat(40) };
      },
      checkMerge: async () => null,
      deleteBranch: async () => undefined,
      log: pino({ level: 'silent' }),
      everyMs: 20,
    });
    await expect.poll(() => pushes + refusals).toBe(1);
    expect([pushes, refusals, await stateOfJob()]).toEqual([0, 1, 'closed']);
  });

  it('shows why it was not merged, and can be merged again', async () => {
    const { id, ask } = await open();
    await ask('/merge');
    await merges().claimMerge();
    await merges().refused(id, 'The branch changes the same lines.');
    expect((await ask()).body).toMatchObject({
      state: 'open',
      merge: { isMerging: false, problem: 'The branch changes the same lines.' },
    });
    expect((await ask('/merge')).body.merge).toMatchObject({ isMerging: true, problem: null, commit: null });
    expect((await merges().claimMerge())?.id).toBe(id);
    await merges().refused(id, 'The branch is gone.');
  });

  it('is checked and merged while those of another organization wait for their slow forge', async () => {
    const slow = await Promise.all(Array.from({ length: 6 }, () => open()));
    const other = await buildProject(database.pool);
    const quick = await open({ owner: other });
    const { key } = await buildKey(database.pool, other);
    for (const { ask } of slow) await Promise.all([ask('/check'), ask('/merge')]);
    await Promise.all([quick.ask('/check', key), quick.ask('/merge', key)]);
    const released = Promise.withResolvers<void>();
    const atOnce = { checks: 0, merges: 0 };
    const reached = async (work: keyof typeof atOnce, head: string) => {
      if (head.includes(quick.job.id)) return null;
      atOnce[work] += 1;
      await released.promise;
      return null;
    };
    await using _chores = createMergeChores({
      merges: merges(),
      granted: noForge,
      async mergeBranch({ head }) {
        await reached('merges', head);
        return { kind: 'merged', commit: 'd'.repeat(40) };
      },
      checkMerge: ({ head }) => reached('checks', head),
      deleteBranch: async () => undefined,
      log: pino({ level: 'silent' }),
      everyMs: 20,
    });
    await using _released = { [Symbol.asyncDispose]: async () => released.resolve() };
    const ended = { isMerging: false, isChecking: false, commit: 'd'.repeat(40), mergeability: { problem: null } };
    await expect.poll(async () => (await quick.ask('', key)).body.merge).toMatchObject(ended);
    expect(atOnce).toEqual({ checks: 1, merges: 1 });
    released.resolve();
    const left = 'select from pull_requests where coalesce(check_requested_at, merge_requested_at) is not null';
    await expect.poll(async () => (await database.pool.query(left)).rowCount).toBe(0);
  });

  it('is checked for conflicts on request, once for all who ask', async () => {
    const { id, ask } = await open();
    expect((await ask()).body.merge).toMatchObject({ isChecking: false, mergeability: null });
    expect((await ask('/check')).body.merge).toMatchObject({ isChecking: true, mergeability: null });
    await ask('/check');
    const pairs: unknown[] = [];
    await using _chores = createMergeChores({
      merges: merges(),
      granted: noForge,
      mergeBranch: async () => ({ kind: 'merged', commit: 'd'.repeat(40) }),
      async checkMerge({ repository, head, base }) {
        pairs.push({ repository, head, base });
        return {
          kind: 'refused',
          problem: 'The branch changes the same lines.',
          cause: 'conflict',
          conflicts: ['docs/a b.md'],
        };
      },
      deleteBranch: async () => undefined,
      log: pino({ level: 'silent' }),
      everyMs: 20,
    });
    const mergeability = {
      problem: 'The branch changes the same lines.',
      cause: 'conflict',
      conflicts: ['docs/a b.md'],
      checkedAt: expect.any(String),
    };
    await expect.poll(async () => (await ask()).body.merge).toMatchObject({ isChecking: false, mergeability });
    expect((await ask()).body).toMatchObject({ state: 'open', merge: { isMerging: false, problem: null } });
    // while the result is new enough, asking again changes nothing
    await database.pool.query(
      `update pull_requests set mergeability = jsonb_set(mergeability, '{checkedAt}', to_jsonb(now() + interval '1 minute')) where id = $1`,
      [id],
    );
    expect((await ask('/check')).body.merge.isChecking).toBe(false);
    expect(pairs).toHaveLength(1);
    await ask('/close');
    await database.pool.query('update pull_requests set mergeability = null where id = $1', [id]);
    expect((await ask('/check')).body.merge.isChecking).toBe(false);
  });

  it('is squashed, and its branch deleted, on request', async () => {
    const { id } = await open();
    const path = `/v1/pull-requests/${id}/merge`;
    const send = (body: object) => api.ask(path, { key: admin.key, method: 'POST', json: body });
    expect((await send({ method: 'rebase' })).status).toBe(400);
    expect((await send({ method: 'squash', deleteBranch: true })).status).toBe(202);
    const did: string[] = [];
    await using _chores = createMergeChores({
      merges: merges(),
      granted: noForge,
      async mergeBranch({ method, message }) {
        did.push(method, message);
        return { kind: 'merged', commit: 'd'.repeat(40) };
      },
      checkMerge: async () => null,
      deleteBranch: async ({ head }) => void did.push(head),
      log: pino({ level: 'silent' }),
      everyMs: 20,
    });
    await expect.poll(() => did.length).toBe(3);
    expect(did).toEqual([
      'squash',
      expect.stringMatching(/^<b>Fix<\/b> \(#\d+\)\n$/),
      expect.stringMatching(/^docket\//),
    ]);
  });

  it('is closed, and this is recorded for its job', async () => {
    const { ask, stateOfJob } = await open();
    expect((await ask('/close')).body.state).toBe('closed');
    expect(await stateOfJob()).toBe('closed');
    expect((await ask('/close')).status).toBe(200);
    expect((await ask('/merge')).status).toBe(409);
  });

  it.each(['merged', 'closed', 'checked'])('is %s while its job is written, without a deadlock', async (change) => {
    const { id, job, ask } = await open();
    const { pool } = database;
    const changes: Record<string, () => Promise<unknown>> = {
      merged: () => merges().merged(id, 'd'.repeat(40)),
      closed: () => ask('/close'),
      checked: () =>
        merges().checked(id, { problem: null, conflicts: [], pullRequest: { state: 'closed', draft: false } }),
    };
    const changed = await withTransaction(pool, async (client) => {
      await client.query('select from jobs where id = $1 for no key update', [job.id]);
      const waiting = changes[change]!();
      await untilBlocked(database);
      await client.query('update jobs set head_commit = $2 where id = $1', [job.id, 'e'.repeat(40)]);
      return { waiting };
    });
    await changed.waiting;
    const state = change === 'merged' ? 'merged' : 'closed';
    expect((await ask()).body).toMatchObject({ state, headCommit: 'e'.repeat(40) });
  });

  it('is merged only after its draft was marked as ready', async () => {
    const { ask } = await open({ draft: true });
    const refused = await ask('/merge');
    expect([refused.status, refused.body.error]).toEqual([409, expect.stringContaining('draft')]);
    expect((await ask('/ready')).body.draft).toBe(false);
    expect((await ask('/merge')).status).toBe(202);
  });
});
