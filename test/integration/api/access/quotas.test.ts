import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readConfig } from '../../../../api/config.ts';
import { createPool } from '../../../../db/pool.ts';
import { buildJob, buildKey, buildOrganization, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { untilEarlyIn } from '../../../support/early-in.ts';
import { serveApi, type ServedApi } from '../serve.ts';

const env = {
  DOCKET_MAX_PROJECTS: '5',
  DOCKET_MAX_SITES: '3',
  DOCKET_MAX_KEYS: '4',
  DOCKET_MAX_WEBHOOKS: '6',
  DOCKET_MAX_ACTIVE_JOBS: '7',
  DOCKET_ORGANIZATION_JOBS_PER_HOUR: '9',
};

const resources = new AsyncDisposableStack();
let database: TestDatabase;
let api: ServedApi;
beforeAll(async () => {
  database = resources.use(await createTestDatabase());
  const { quotas } = readConfig({ DATABASE_URL: 'postgres://unused', DOCKET_KEY_PEPPER: 'pepper', ...env });
  const pool = createPool({
    url: database.url,
    maxConnections: 10,
    applicationName: 'test',
    quotas,
    connectTimeoutMs: 30_000,
  });
  resources.defer(() => pool.end());
  api = resources.use(await serveApi(pool, env));
});
afterAll(() => resources.disposeAsync());

/** An organization with a key, and how many of 50 simultaneous requests got each answer. */
async function stage() {
  const { id: organizationId } = await buildOrganization(database.pool);
  const { key } = await buildKey(database.pool, { organizationId });
  const flood = async (path: string, bodyOf: (at: number) => unknown, to = key) => {
    const requests = Array.from({ length: 50 }, (_, at) => api.ask(path, { key: to, json: bodyOf(at) }));
    const answers = await Promise.all(requests);
    const refused = answers.filter(({ status }) => status >= 300);
    return {
      made: answers.length - refused.length,
      statuses: [...new Set(refused.map(({ status }) => status))],
      sentences: [...new Set(refused.map(({ body }) => body.error))],
      waits: refused.map(({ headers }) => Number(headers.get('retry-after'))),
    };
  };
  return { organizationId, key, flood };
}

it.each([
  {
    path: '/v1/projects',
    most: 5,
    bodyOf: () => ({ repository: 'https://github.com/acme/lamp' }),
    sentence: 'An organization has at most 5 projects (DOCKET_MAX_PROJECTS); delete one first.',
  },
  {
    path: '/v1/sites',
    most: 3,
    bodyOf: () => ({ domain: `site-${randomUUID()}`, repository: 'https://github.com/acme/lamp' }),
    sentence: 'An organization has at most 3 sites (DOCKET_MAX_SITES); delete one first.',
  },
  {
    path: '/v1/keys',
    // it already has the key that it uses
    most: 3,
    bodyOf: () => ({ kind: 'assistant' }),
    sentence: 'An organization has at most 4 valid keys (DOCKET_MAX_KEYS); revoke one first.',
  },
])(
  '$path gives no more of 50 at once than the operator lets an organization have',
  async ({ path, most, bodyOf, sentence }) => {
    const { flood } = await stage();
    expect(await flood(path, bodyOf)).toMatchObject({ made: most, statuses: [409], sentences: [sentence] });
    // the other organization still has what it had
    expect((await (await stage()).flood(path, bodyOf)).made).toBe(most);
  },
);

it('webhooks count across all projects of an organization', async () => {
  const { organizationId, flood } = await stage();
  const projects = await Promise.all([1, 2].map(() => buildProject(database.pool, { organizationId })));
  const hook = () => ({ url: 'https://hooks.example.com/docket' });
  const made = await Promise.all(projects.map(({ id }) => flood(`/v2/agent/${id}/webhooks`, hook)));
  expect(made.reduce((sum, one) => sum + one.made, 0)).toBe(6);
  expect(made[0]!.sentences).toEqual([
    'An organization has at most 6 webhooks (DOCKET_MAX_WEBHOOKS); delete one first.',
  ]);
});

it('active jobs and turns per hour count across projects when they start, and not when they are refused', async () => {
  await untilEarlyIn('hour');
  const { organizationId, key, flood } = await stage();
  const projects = await Promise.all([1, 2].map(() => buildProject(database.pool, { organizationId })));
  const both = await Promise.all(projects.map(({ id }) => flood(`/v2/agent/${id}/job`, () => ({ prompt: 'Look.' }))));
  expect(both.reduce((sum, { made }) => sum + made, 0)).toBe(7);
  expect(both.map(({ statuses }) => statuses)).toEqual([[429], [429]]);
  expect(both[0]!.sentences).toEqual([
    'An organization has at most 7 active jobs (DOCKET_MAX_ACTIVE_JOBS); wait for one to end.',
  ]);
  expect(both[0]!.waits.every((seconds) => seconds > 0)).toBe(true);

  const message = (json: object, { id, project }: { id: string; project: string }) =>
    api.ask(`/v2/agent/${project}/job/${id}/message`, { key, json });
  // a job restarted by a message is active, too
  const ended = await buildJob(database.pool, projects[0]!, { status: 'completed' });
  const again = await message({ prompt: 'Go on.' }, { id: ended.id, project: ended.projectId });
  expect([again.status, again.body.error]).toEqual([429, both[0]!.sentences[0]]);
  const { rows } = await database.pool.query<{ id: string; project: string }>(
    `update jobs set status = 'completed' where organization_id = $1 returning id, project_id as project`,
    [organizationId],
  );
  expect((await message({ prompt: 'Go on.' }, rows[0]!)).status).toBe(200);
  const job = { key, json: { prompt: 'One more.' }, headers: { 'idempotency-key': 'the-last' } };
  const path = `/v2/agent/${projects[0]!.id}/job`;
  expect((await api.ask(path, job)).status).toBe(201);
  const refused = await message({ prompt: 'Go on, too.' }, rows[1]!);
  expect(refused.status).toBe(429);
  expect(refused.body.error).toBe(
    'An organization may start at most 9 jobs and follow-up turns per hour (DOCKET_ORGANIZATION_JOBS_PER_HOUR). Try again later.',
  );
  expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3_600);
  // a repeated request costs nothing
  expect((await api.ask(path, job)).status).toBe(200);
  await database.pool.query(`update organizations set turns_hour = turns_hour - interval '1 hour' where id = $1`, [
    organizationId,
  ]);
  expect((await message({ prompt: 'Go on, too.' }, rows[1]!)).status).toBe(200);
});
