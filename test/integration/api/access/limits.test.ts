import { describe, expect, it } from 'vitest';
import { createKeyText } from '../../../../db/organizations/key-format.ts';
import { createPool } from '../../../../db/pool.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { untilEarlyIn } from '../../../support/early-in.ts';
import { openLine } from '../../../support/servers/line.ts';
import { serveApi } from '../serve.ts';

describe('the limit of jobs', () => {
  it('holds across two processes, counts only accepted jobs, and does not affect reads', async () => {
    await using database = await createTestDatabase();
    await using first = await serveApi(database.pool, { DOCKET_JOBS_PER_HOUR: '5' });
    await using second = await serveApi(database.pool, { DOCKET_JOBS_PER_HOUR: '5' });
    const project = await buildProject(database.pool);
    const other = await buildProject(database.pool, { organizationId: project.organizationId });
    const { key } = await buildKey(database.pool, project);
    const path = `/v2/agent/${project.id}/job`;

    for (let count = 0; count < 8; count += 1) {
      expect((await first.ask(path, { key, json: { prompt: '' } })).status).toBe(400);
    }
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, index) => [first, second][index % 2]!.ask(path, { key, json: { prompt: 'x' } })),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused).toHaveLength(5);
    for (const answer of refused) {
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(answer.headers.get('ratelimit')).toMatch(/^"job";r=0;t=\d+$/);
      expect(Object.keys(answer.body)).toEqual(['error']);
    }
    expect((await first.ask(`/v2/agent/${project.id}/jobs`, { key })).status).toBe(200);
    expect((await first.ask(`/v2/agent/${other.id}/job`, { key, json: { prompt: 'x' } })).status).toBe(201);
  });
});

describe('wrong keys', () => {
  it(
    'are limited by address, and never lock out a valid key, whether or not it has been used before',
    { tags: 'slow' },
    async () => {
      await using database = await createTestDatabase();
      await using api = await serveApi(database.pool);
      const project = await buildProject(database.pool);
      const { key } = await buildKey(database.pool, project);
      const path = `/v2/agent/${project.id}/jobs`;
      expect((await api.ask(path, { key })).status).toBe(200);
      const others = await Promise.all([
        buildKey(database.pool, project),
        buildKey(database.pool, await buildProject(database.pool)),
      ]);
      await untilEarlyIn('minute');
      const statuses: number[] = [];
      for (let count = 0; count < 105; count += 1)
        statuses.push((await api.ask(path, { key: createKeyText('admin').key })).status);
      expect(statuses.slice(0, 90)).toEqual(Array(90).fill(401));
      expect(statuses.at(-1)).toBe(429);
      expect((await api.ask(path, { key })).status).toBe(200);
      // keys that this process sees for the first time
      for (const other of others) expect((await api.ask('/v1/jobs', { key: other.key })).status).toBe(200);
      expect((await api.ask('/v1/session', { json: { key: others[0]!.key } })).status).toBe(201);
      // a valid id with a wrong secret is a guess
      const guess = await buildKey(database.pool, project);
      await database.pool.query('update api_keys set digest = $2 where id = $1', [guess.row.id, Buffer.alloc(32, 1)]);
      for (const wrong of [guess.key, createKeyText('admin').key, 'svc_nonsense'])
        expect((await api.ask(path, { key: wrong })).status).toBe(429);
      expect((await api.ask(path)).status).toBe(401);
    },
  );
});

describe('without the database', () => {
  it('answers 503 with Retry-After everywhere, stays alive, and recovers', async () => {
    await using database = await createTestDatabase();
    const project = await buildProject(database.pool);
    const job = await buildJob(database.pool, project);
    const { key } = await buildKey(database.pool, project);
    await using line = await openLine(new URL(database.url));
    const url = new URL(database.url);
    url.host = `127.0.0.1:${line.port}`;
    const pool = createPool({ url: url.href, maxConnections: 4, applicationName: 'test' });
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(() => pool.end());
    await using api = await serveApi(pool);
    const poll = () => api.ask(`/v2/agent/${project.id}/job/${job.id}`, { key });
    expect((await poll()).status).toBe(200);

    line.cut();
    // a row in memory is shown until the process notices
    await expect.poll(async () => (await poll()).status).toBe(503);
    const answers = [
      await poll(),
      await api.ask('/readyz'),
      await api.ask(`/v2/agent/${project.id}/job`, { key, json: { prompt: 'x' } }),
      await api.ask(`/v2/agent/${project.id}/jobs`, { key }),
      await api.ask('/v1/pull-requests/pr_1', { key }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(503);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(Object.keys(answer.body)).toEqual(['error']);
      expect(answer.text).not.toContain('127.0.0.1');
    }
    expect((await api.ask('/healthz')).status).toBe(200);

    line.mend();
    await expect.poll(async () => (await poll()).status).toBe(200);
    expect((await api.ask('/readyz')).status).toBe(200);
  });
});
