import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { jobEventPageSchema, type PublicJobEvent } from '../../../../api/jobs/job-schemas.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { wakeWatchers } from '../../../../db/jobs/wake-watchers.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase, type TestDatabase } from '../../../support/database/database.ts';
import { openEvents, watchEvents, type WatchRequest } from '../../../support/sdk-clients/watch-events.ts';
import { comparable, serveApi, type ServedApi } from '../serve.ts';

let database: TestDatabase;
let apis: ServedApi[];
let project: ProjectRow;
let key: string;
beforeAll(async () => {
  database = await createTestDatabase();
  apis = [await serveApi(database.pool), await serveApi(database.pool)];
  project = await buildProject(database.pool);
  ({ key } = await buildKey(database.pool, project));
});
afterAll(async () => {
  for (const api of apis ?? []) await api[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

interface Watching {
  api?: ServedApi;
  lastEventId?: number;
  query?: string;
  signal?: AbortSignal;
}

function request(jobId: string, { api = apis[0]!, lastEventId, query = '', signal }: Watching): WatchRequest {
  return { url: `${api.url}/v2/agent/${project.id}/job/${jobId}/events${query}`, key, lastEventId, signal };
}

const open = (jobId: string, watching: Watching = {}) => openEvents(request(jobId, watching));
const watch = (jobId: string, watching: Watching = {}) => watchEvents(request(jobId, watching));

async function append(jobId: string, count: number, { turn = 1, text = 'x' } = {}): Promise<void> {
  const events = Array.from({ length: count }, () => ({ type: 'text', data: { attempt: 1, offset: 0, text } }));
  await database.pool.query('select append_job_events($1, $2, 1, $3)', [jobId, turn, JSON.stringify(events)]);
  wakeWatchers(database.pool, jobId);
}

function finish(jobId: string): Promise<boolean> {
  return createWorkerJobStore(database.pool).finish({ jobId, turn: 1, status: 'completed', failureCategory: null });
}

async function collect(events: AsyncIterable<PublicJobEvent>): Promise<PublicJobEvent[]> {
  const all: PublicJobEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

describe('the stream of a job’s events', () => {
  it('sends past and new events, and ends with the job', async () => {
    const { id } = await buildJob(database.pool, project);
    await append(id, 120);
    const seen: number[] = [];
    for await (const { seq, type } of watch(id)) {
      seen.push(seq);
      if (seq === 121) await append(id, 2);
      if (seq === 123) await finish(id);
      if (seq === 124) expect(type).toBe('finish');
    }
    expect(seen).toEqual(Array.from({ length: 124 }, (_, index) => index + 1));
  });

  it('loses and duplicates nothing across cuts at random places, from any process', async () => {
    const { id } = await buildJob(database.pool, project);
    const total = 1_500;
    const writing = (async () => {
      for (let written = 1; written < total;) {
        const count = Math.min(1 + Math.floor(Math.random() * 5), total - written);
        await append(id, count, { text: 'x'.repeat(Math.floor(Math.random() * 3_000)) });
        written += count;
      }
      await finish(id);
    })();
    const watchers = Array.from({ length: 4 }, async (_, watcher) => {
      const seen: number[] = [];
      for (let cut = watcher; seen.at(-1) !== total + 1; cut += 1) {
        const controller = new AbortController();
        const most = Math.floor(Math.random() * 40);
        let taken = 0;
        try {
          const watching = { api: apis[cut % 2], lastEventId: seen.at(-1), signal: controller.signal };
          for await (const { seq } of watch(id, watching)) {
            seen.push(seq);
            taken += 1;
            if (taken > most) controller.abort();
          }
        } catch (error) {
          if (!controller.signal.aborted) throw error;
        }
      }
      return seen;
    });
    await writing;
    const all = Array.from({ length: total + 1 }, (_, index) => index + 1);
    for (const seen of await Promise.all(watchers)) expect(seen).toEqual(all);
  });

  it('continues through a new turn', async () => {
    const { id } = await buildJob(database.pool, project);
    const seen: string[] = [];
    for await (const { seq, turn, type } of watch(id)) {
      seen.push(`${turn} ${type}`);
      if (seq === 1) {
        const client = await database.pool.connect();
        await client.query('begin');
        await client.query(`select append_job_events($1, 1, null, '[{"type": "finish", "data": {}}]', true)`, [id]);
        await client.query('update jobs set turn = 2 where id = $1', [id]);
        await client.query('commit');
        client.release();
        wakeWatchers(database.pool, id);
      }
      if (seq === 2) await append(id, 1, { turn: 2 });
      if (seq === 3)
        await createWorkerJobStore(database.pool).finish({
          jobId: id,
          turn: 2,
          status: 'failed',
          failureCategory: 'internal',
        });
    }
    expect(seen).toEqual(['1 phase', '1 finish', '2 text', '2 failure']);
  });

  it('continues when its listening connection is killed', async () => {
    const { id } = await buildJob(database.pool, project);
    for await (const { seq } of watch(id)) {
      if (seq === 1) {
        await database.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where application_name = 'docket-events' and datname = current_database()`,
        );
        await append(id, 1);
      }
      if (seq === 2) await finish(id);
    }
  });

  it('starts after ?after=, and Last-Event-ID takes precedence', async () => {
    const { id } = await buildJob(database.pool, project);
    await append(id, 5);
    await finish(id);
    expect((await collect(watch(id, { query: '?after=4' }))).map(({ seq }) => seq)).toEqual([5, 6, 7]);
    const both = watch(id, { query: '?after=1', lastEventId: 5 });
    expect((await collect(both)).map(({ seq }) => seq)).toEqual([6, 7]);
  });

  it('answers 204 to a watcher that returns to a job without further events', async () => {
    const { id } = await buildJob(database.pool, project);
    await finish(id);
    expect((await open(id, { lastEventId: 2 })).status).toBe(204);
    expect((await open(id, { lastEventId: 1 })).status).toBe(200);
  });

  it('refuses an id that is not a number, and names it', async () => {
    const { id } = await buildJob(database.pool, project);
    for (const url of [`/v2/agent/${project.id}/job/${id}/events`, '/v1/jobs/events']) {
      const refused = await openEvents({ url: `${apis[0]!.url}${url}`, key, lastEventId: -1 });
      expect([refused.status, await refused.json()]).toEqual([
        400,
        { error: expect.stringMatching(/^Last-Event-ID must be /) },
      ]);
    }
  });

  it('ends at a shutdown, and refuses new ones', async () => {
    await using api = await serveApi(database.pool);
    const { id } = await buildJob(database.pool, project);
    for await (const { seq } of watch(id, { api })) if (seq === 1) api.stop();
    const refused = await open(id, { api });
    expect([refused.status, await refused.json()]).toEqual([503, { error: 'This process is shutting down.' }]);
  });

  it('answers HEAD with headers only, and forbids caching and buffering', async () => {
    const { id } = await buildJob(database.pool, project);
    const controller = new AbortController();
    const response = await open(id, { signal: controller.signal });
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform');
    expect(response.headers.get('x-accel-buffering')).toBe('no');
    controller.abort();
    const head = await fetch(`${apis[0]!.url}/v2/agent/${project.id}/job/${id}/events`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    expect([head.status, await head.text()]).toEqual([200, '']);
  });
});

describe('pages of a job’s events', () => {
  const path = (id: string, query = '') => `/v2/agent/${project.id}/job/${id}/events${query}`;

  it('return every event once', async () => {
    const { id } = await buildJob(database.pool, project);
    await append(id, 24);
    const seen: number[] = [];
    for (let after = 0; ;) {
      const answer = await apis[0]!.ask(path(id, `?after=${after}&limit=10`), { key });
      const page = jobEventPageSchema.strict().parse(answer.body);
      seen.push(...page.events.map(({ seq }) => seq));
      after = page.nextAfter;
      if (page.events.length === 0) break;
    }
    expect(seen).toEqual(Array.from({ length: 25 }, (_, index) => index + 1));
    const empty = await apis[0]!.ask(path(id, '?after=25'), { key });
    expect([empty.status, empty.body]).toEqual([200, { events: [], nextAfter: 25 }]);
    expect(empty.headers.get('vary')).toContain('Accept');
  });

  it.each(['after=-1', 'after=x', 'after=', 'after=1&after=2', 'limit=0', 'limit=501', 'limit=x'])(
    'refuse ?%s',
    async (query) => {
      const { id } = await buildJob(database.pool, project);
      const answer = await apis[0]!.ask(path(id, `?${query}`), { key });
      expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
    },
  );

  it('and streams accept the keys of their organization, and admin keys', async () => {
    const { id } = await buildJob(database.pool, project);
    const stranger = await buildKey(database.pool, await buildProject(database.pool));
    const assistant = await buildKey(database.pool, { organizationId: project.organizationId, kind: 'assistant' });
    for (const accept of ['application/json', 'text/event-stream']) {
      const ask = (jobId: string, asking: string | null) =>
        apis[0]!.ask(path(jobId), { key: asking, headers: { accept } });
      expect((await ask(id, null)).status).toBe(401);
      expect((await ask(id, assistant.key)).status).toBe(403);
      const foreign = await ask(id, stranger.key);
      expect(foreign.status).toBe(404);
      expect(comparable(foreign)).toEqual(comparable(await ask('job_none', key)));
    }
    const badId = await apis[0]!.ask(path(id), { key, headers: { accept: 'text/event-stream', 'last-event-id': 'x' } });
    expect([badId.status, Object.keys(badId.body)]).toEqual([400, ['error']]);
  });
});
