import { expect, it } from 'vitest';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

/** Creates an organization with a job for each list of states: the states of its pull requests, a turn each, oldest first. */
async function stage(...jobs: string[][]) {
  const { pool } = database;
  const project = await buildProject(pool);
  const { key } = await buildKey(pool, project);
  const ids: string[] = [];
  for (const states of jobs) {
    const { id } = await buildJob(pool, project, { status: 'completed' });
    ids.push(id);
    for (const [index, state] of states.entries()) {
      const turn = index + 1;
      const row = await createWorkerPullRequestStore(pool).create({
        repository: '/srv/repositories/lamp.git',
        head: `docket/${id}-${turn}`,
        base: 'main',
        title: `${state} in turn ${turn}`,
        body: '',
        draft: false,
      });
      await pool.query(`update jobs set turn = $3, pr_id = $2, pr_link = 'http://x', head_tree = $4 where id = $1`, [
        id,
        row.id,
        turn,
        `tree-${turn}`,
      ]);
      await pool.query('update pull_requests set state = $2 where id = $1', [row.id, state]);
    }
  }
  const ask = async (query = '') => (await api.ask(`/v1/pull-requests${query}`, { key })).body;
  const titles = async (query = '') => (await ask(query)).pullRequests.map(({ title }: { title: string }) => title);
  return { project, key, ids, ask, titles };
}

it('holds every pull request of every job, newest first, with its turn, state and change', async () => {
  const { project, ids, ask, titles } = await stage(['merged', 'closed', 'open'], ['open']);
  const { pool } = database;
  await pool.query(
    `insert into job_snapshots (job_id, tree, commit, base_commit, pack, patch, changed_files, additions, deletions)
     values ($1, 'tree-1', 'c', 'b', '', '', 3, 5, 2)`,
    [ids[0]],
  );
  expect(await titles()).toEqual(['open in turn 1', 'open in turn 3', 'closed in turn 2', 'merged in turn 1']);
  expect((await ask()).pullRequests.at(-1)).toEqual({
    id: expect.stringMatching(/^pr_/),
    number: expect.any(Number),
    turn: 1,
    title: 'merged in turn 1',
    link: 'http://x',
    state: 'merged',
    draft: false,
    createdAt: expect.any(String),
    job: { id: ids[0], projectId: project.id },
    changedFiles: 3,
    additions: 5,
    deletions: 2,
  });
  // those of others, and one that is not published yet
  await stage(['open']);
  await pool.query(`update pull_requests set link = null where opened_by = $1`, [ids[1]]);
  expect(await titles()).toHaveLength(3);
});

it('comes in pages of one state or all, without omissions or repeats', async () => {
  const { key, ask, titles } = await stage(['merged', 'open'], ['merged', 'closed'], ['merged', 'merged', 'open']);
  for (const [filter, count] of [
    ['', 7],
    ['&state=merged', 4],
    ['&state=open', 2],
    ['&state=closed', 1],
  ] as const) {
    const seen = new Set<string>();
    let cursor: string | null = '';
    for (let page = 0; page < 4 && cursor !== null; page += 1) {
      const body = await ask(`?limit=2${filter}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      for (const { id } of body.pullRequests) seen.add(id);
      cursor = body.nextCursor;
    }
    expect([filter, seen.size, cursor]).toEqual([filter, count, null]);
  }
  expect(await titles('?state=closed')).toEqual(['closed in turn 2']);
  expect((await api.ask('/v1/pull-requests?cursor=x', { key })).status).toBe(400);
  expect((await api.ask('/v1/pull-requests?state=draft', { key })).status).toBe(400);
});

it('is counted by state, up to a thousand of each', async () => {
  const { key, ids } = await stage(['merged', 'merged', 'open'], ['closed']);
  const counts = async () => (await api.ask('/v1/jobs/pull-request-counts', { key })).body.counts;
  const exact = (state: string, count: number) => ({ state, count, isLowerBound: false });
  expect(await counts()).toEqual([exact('open', 1), exact('merged', 2), exact('closed', 1)]);
  await database.pool.query(
    `insert into pull_requests (id, repository, number, head, base, title, body, draft, state, link, organization_id, opened_by,
                                opened_in)
     select 'pr_more' || serial, 'r', serial, 'h' || serial, base, title, body, draft, state, link, organization_id, opened_by, 9
     from pull_requests, generate_series(1, 1000) as serial where opened_by = $1 and state = 'open'`,
    [ids[0]],
  );
  expect((await counts())[0]).toEqual({ state: 'open', count: 1_000, isLowerBound: true });
});
