import { expect, it } from 'vitest';
import { createRequestHolders } from '../../../../api/access/request-holders.ts';
import { createPool } from '../../../../db/pool.ts';
import { buildJob, buildKey, buildProject, buildSite } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';

const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

it(
  'answers the polls and lists of one organization while slow reads of another use their full share',
  { tags: 'slow' },
  async () => {
    await using database = await createTestDatabase();
    const holders = createRequestHolders();
    const pool = createPool({
      url: database.url,
      maxConnections: 10,
      applicationName: 'test',
      // longer than a slow read may take, so that both refusals occur
      connectTimeoutMs: 5_000,
      statementTimeoutMs: 600_000,
      holderOf: holders.current,
    });
    await using _pool = { [Symbol.asyncDispose]: () => pool.end() };
    await using api = await serveApi(pool, {}, {}, holders);
    const [quiet, busy] = await Promise.all([buildProject(database.pool), buildProject(database.pool)]);
    const [quietKey, busyKey] = await Promise.all([quiet, busy].map((project) => buildKey(database.pool, project)));
    const job = await buildJob(database.pool, quiet);
    const site = await buildSite(database.pool, busy);
    const slow = { key: busyKey!.key };
    const poll = `/v2/agent/${quiet.id}/job/${job.id}`;

    const blocker = await database.pool.connect();
    await using _blocker = { [Symbol.asyncDispose]: async () => blocker.release(true) };
    await blocker.query('begin; lock table threads in access exclusive mode');
    const flood = Array.from({ length: 40 }, () => api.ask(`/v1/sites/${site.domain}/conversations?q=word`, slow));
    await expect.poll(async () => (await database.pool.query(waiting)).rowCount, { interval: 10 }).toBe(5);
    const asked = Array.from({ length: 30 }, (_, at) => [poll, '/v1/jobs', '/v1/projects'][at % 3]!);
    const answers = await Promise.all(asked.map((path) => api.ask(path, { key: quietKey!.key })));
    expect(answers.map(({ status }) => status)).toEqual(asked.map(() => 200));

    const refused = await Promise.all(flood);
    expect([...new Set(refused.map(({ status }) => status))]).toEqual([503]);
    expect(new Set(refused.map(({ body }) => body.error))).toEqual(
      new Set([
        'Other requests of the organization use its share of the database; try again in a moment.',
        'The request reads too much data at once. Narrow it, or try again later.',
      ]),
    );
    expect(refused.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true);

    await blocker.query('rollback');
    expect((await api.ask(`/v1/sites/${site.domain}/conversations?q=word`, slow)).status).toBe(200);
    expect((await api.ask('/v1/operations?hours=720', slow)).status).toBe(200);
  },
);

it('finds a conversation after as many others as a search page reads', async () => {
  await using database = await createTestDatabase();
  await using api = await serveApi(database.pool);
  const site = await buildSite(database.pool);
  const { key } = await buildKey(database.pool, site);
  await database.pool.query(
    `with made as (
       insert into threads (id, site_id, organization_id, fp, created_at)
       select 'thr_' || number, $1, $2, 'anonymous', now() - number * interval '1 second' from generate_series(1, 2100) as number
       returning id, created_at
     )
     insert into thread_messages (thread_id, id, role, content)
     select id, 'msg_' || id, 'user', case when id = 'thr_2050' then 'Where is the needle?' else 'Hay' end from made`,
    [site.id, site.organizationId],
  );
  const list = (query: string) => api.ask(`/v1/sites/${site.domain}/conversations?q=NEEDLE${query}`, { key });
  const first = await list('');
  expect(first.body.conversations).toEqual([]);
  const second = await list(`&cursor=${first.body.nextCursor}`);
  expect(second.body).toMatchObject({ conversations: [{ threadId: 'thr_2050' }], nextCursor: null });
});
