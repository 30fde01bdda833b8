import { beforeAll, expect, it } from 'vitest';
import { createMetrics } from '../../../api/http/metrics.ts';
import { operationsSchema } from '../../../api/administration/operations-schemas.ts';
import { createServiceFigureStore } from '../../../db/operations/service-figures.ts';
import { createOperatorView } from '../../../db/operations/operator-view.ts';
import { createWorkerStore } from '../../../db/for-worker/workers.ts';
import { buildJob, buildKey, buildProject } from '../../support/database/build.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { buildIndexedSite, question } from '../assistant/site.ts';
import { serveApi } from './serve.ts';
import { ofFile } from '../../support/of-file.ts';

const database = ofFile(createTestDatabase);
// the jobs of this test began before its database
beforeAll(() => database.pool.query(`update operation_start set since = '-infinity'`));
const api = ofFile(() => serveApi(database.pool, {}, { indexPollMs: 50 }));

const sum = <Row>(rows: Row[], field: keyof Row): number => rows.reduce((total, row) => total + Number(row[field]), 0);

async function endedJob(
  project: Parameters<typeof buildJob>[1],
  seconds: number,
  failure: string | null,
): Promise<void> {
  const status = failure === null ? 'completed' : 'failed';
  const { id } = await buildJob(database.pool, project, { status, failureCategory: failure });
  await database.pool.query(
    `update job_turns set status = $2, created_at = now() - ($3 + 60) * interval '1 second', ended_at = now() - interval '60 seconds'
     where job_id = $1`,
    [id, status, seconds],
  );
  await database.pool.query(`update jobs set phase = null, ended_at = now() - interval '60 seconds' where id = $1`, [
    id,
  ]);
  await database.pool.query(
    `insert into job_steps (job_id, turn, step, started_at) values ($1, 1, 1, now() - interval '62 seconds')`,
    [id],
  );
  await database.pool.query(
    `update job_steps set response = '{}', answered_at = now() - interval '60 seconds', cost_micros = 1500,
       input_tokens = 100, cached_tokens = 70, cache_write_tokens = 20, output_tokens = 10
     where job_id = $1`,
    [id],
  );
}

/** Percentiles are off by 2.5% at most. */
const close = (ms: number) => expect.toSatisfy((found: number) => Math.abs(found / ms - 1) < 0.025);

it('reports what happened to the jobs, models and answers of an organization, in intervals without gaps', async () => {
  const docs = await buildIndexedSite(database.pool);
  const project = await buildProject(database.pool, { organizationId: docs.organizationId });
  await endedJob(project, 10, null);
  await endedJob(project, 30, null);
  await endedJob(project, 20, 'push_rejected');
  await endedJob(project, 20, 'cancelled');
  await buildJob(database.pool, project);
  await endedJob(await buildProject(database.pool), 10_000, 'push_rejected');
  for (const text of ['How do I set the retry limit?', 'How do I paint the gearbox?'])
    await api.ask(`/discovery/v2/assistant/${docs.site.domain}/message`, {
      key: docs.assistantKey,
      json: question(text),
    });

  const answer = await api.ask('/v1/operations?hours=1', { key: docs.adminKey });
  expect(answer.status).toBe(200);
  const told = operationsSchema.strict().parse(answer.body);
  expect(told.bucketSeconds).toBe(60);
  expect([61, 62]).toContain(told.throughput.length);
  const steps = told.throughput
    .slice(1)
    .map(({ at }, place) => Date.parse(at) - Date.parse(told.throughput[place]!.at));
  expect(new Set(steps)).toEqual(new Set([60_000]));
  const turns = (['created', 'completed', 'failed', 'cancelled'] as const).map((name) => sum(told.throughput, name));
  expect(turns).toEqual([5, 2, 1, 1]);
  expect(told.failures).toMatchObject([
    { category: 'cancelled', count: 1 },
    { category: 'push_rejected', count: 1, title: 'The change could not be published' },
  ]);
  const figures = { completed: 2, failed: 1, cancelled: 1, costUsd: 0.006 };
  expect(told.models).toEqual([{ model: 'offline/editor', ...figures }]);
  expect(told.projects).toEqual([{ projectId: project.id, name: project.name, ...figures }]);
  expect(told.queue).toMatchObject({ waiting: 1, active: 1, oldestSeconds: expect.any(Number) });
  expect(told.latency.jobs).toMatchObject({ count: 4, p50Ms: close(20_000) });
  expect(told.latency.model).toMatchObject({ count: 4, p50Ms: close(2_000) });
  expect(told.latency.answers).toMatchObject({ count: 2, p50Ms: expect.any(Number) });
  expect(sum(told.cost, 'costUsd')).toBeCloseTo(0.006);
  const input = ['inputTokens', 'cachedInputTokens', 'cacheWriteTokens', 'freshInputTokens'] as const;
  expect(input.map((kind) => sum(told.cost, kind))).toEqual([400, 280, 80, 40]);
  expect([sum(told.answers, 'answered'), sum(told.answers, 'unanswered')]).toEqual([1, 1]);
});

it('is empty for an organization without data, over any period', async () => {
  const { key } = await buildKey(database.pool, { organizationId: (await buildProject(database.pool)).organizationId });
  for (const [hours, seconds] of [
    [1, 60],
    [24, 900],
    [168, 21_600],
    [2_160, 86_400],
  ]) {
    const told = operationsSchema.parse((await api.ask(`/v1/operations?hours=${hours}`, { key })).body);
    expect([told.bucketSeconds, sum(told.throughput, 'created'), told.failures]).toEqual([seconds, 0, []]);
    expect(told.workerSeenAt).toBeNull();
    expect(told.throughput.length).toBeLessThanOrEqual(102);
  }
  for (const hours of ['0', '2161', '1.5', 'x'])
    expect((await api.ask(`/v1/operations?hours=${hours}`, { key })).status).toBe(400);
});

it('shows workers and Temporal’s address to the operator’s organizations, or if none is named, to the only one', async () => {
  await using own = await createTestDatabase();
  const store = createWorkerStore(own.pool);
  const worker = { host: 'host-of-operator', pid: 4_711, version: '1', activeTasks: 0, startedAt: new Date() };
  await store.report({ id: 'one', ...worker });
  await store.report({ id: 'two', ...worker });
  await store.report({ id: 'one', ...worker, activeTasks: 3 });
  await own.pool.query(`update workers set seen_at = now() - interval '1 hour' where id = 'two'`);
  const env = { DOCKET_TEMPORAL_UI_URL: 'http://temporal.test', TEMPORAL_NAMESPACE: 'of-operator' };
  const seenBy = async (organizationId: string, more: Record<string, string> = {}) => {
    await using served = await serveApi(own.pool, { ...env, ...more });
    const { key } = await buildKey(own.pool, { organizationId });
    const { text, body } = await served.ask('/v1/operations', { key });
    const signedIn = await served.ask('/v1/session', { json: { key } });
    const isTold = ['of-operator', '4711', 'temporal.test'].some((word) => (text + signedIn.text).includes(word));
    const { temporalUiUrl: url, temporalNamespace: namespace } = signedIn.body;
    return { ...operationsSchema.parse(body), isTold, url, namespace };
  };
  const { organizationId: first } = await buildProject(own.pool);
  const workers = [{ id: 'one', activeTasks: 3 }];
  const shown = {
    workerCount: 1,
    workerSeenAt: expect.any(String),
    workers,
    url: 'http://temporal.test',
    namespace: 'of-operator',
  };
  const hidden = {
    workerCount: 1,
    workerSeenAt: expect.any(String),
    workers: null,
    url: null,
    namespace: null,
    isTold: false,
  };
  expect(await seenBy(first)).toMatchObject(shown);
  const { organizationId: second } = await buildProject(own.pool);
  expect([await seenBy(first), await seenBy(second)]).toMatchObject([hidden, hidden]);
  const named = { DOCKET_OPERATOR_ORGANIZATIONS: `org_other, ${second}` };
  expect([await seenBy(first, named), await seenBy(second, named)]).toMatchObject([hidden, shown]);
  await store.remove('one');
  const view = createOperatorView(own.pool, [first]);
  expect(await view.workers({ organizationId: first }, { withinMinutes: 1_000 })).toMatchObject({
    rows: [{ id: 'two' }],
  });
});

it('reports Prometheus metrics by route and never by address, and those of the database when it answers', async () => {
  const { key, project } = await (async () => {
    const project = await buildProject(database.pool);
    return { project, key: (await buildKey(database.pool, project)).key };
  })();
  const job = await buildJob(database.pool, project);
  await api.ask(`/v2/agent/${project.id}/job/${job.id}`, { key });
  await api.ask(`/v2/agent/${project.id}/jobs`, { key });
  await api.ask('/no/such/address', { key });
  await expect
    .poll(async () => (await api.ask('/metrics')).text)
    .toMatch(/duration_seconds_count\{method="GET",route="none",status="404"\}/);
  const { text, headers } = await api.ask('/metrics');
  expect(headers.get('content-type')).toContain('text/plain');
  expect(text).toMatch(
    /duration_seconds_count\{method="GET",route="\/v2\/agent\/:projectId\/job\/:id",status="200"\} \d/,
  );
  expect(text).toMatch(/route="\/v2\/agent\/:projectId\/jobs",status="200"/);
  expect(text).toMatch(/docket_jobs\{status="active"\} \d/);
  expect(text).toContain('docket_database_up 1');
  for (const secret of [project.id, job.id, key, 'no/such']) expect(text).not.toContain(secret);
});

it('keeps reporting metrics of the process when the database does not answer', async () => {
  const metrics = createMetrics({ figures: { read: () => Promise.reject(new Error('down')) } });
  const text = await metrics.text();
  expect(text).toContain('docket_database_up 0');
  expect(text).toContain('docket_api_process_cpu_seconds_total');
  expect((await createServiceFigureStore(database.pool).read()).workers).toBe(0);
});
