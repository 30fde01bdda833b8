import { describe, expect, it } from 'vitest';
import { listedJobsSchema, type ListedJob } from '../../../../api/jobs/job-list-schemas.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import type { ProjectRow } from '../../../../db/organizations/projects.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { insertEndedJobs } from '../../../support/database/many-jobs.ts';
import { openEvents } from '../../../support/sdk-clients/watch-events.ts';
import { serveApi } from '../serve.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() => serveApi(database.pool));

async function stage(): Promise<{ project: ProjectRow; sibling: ProjectRow; key: string }> {
  const project = await buildProject(database.pool);
  const sibling = await buildProject(database.pool, { organizationId: project.organizationId });
  const { key } = await buildKey(database.pool, project);
  return { project, sibling, key };
}

async function titles(key: string, query: string): Promise<(string | null)[]> {
  const answer = await api.ask(`/v1/jobs?${query}`, { key });
  expect(answer.status).toBe(200);
  return listedJobsSchema.parse(answer.body).jobs.map(({ details }) => details.title);
}

interface Change {
  id: string;
  event: string;
  job: ListedJob;
}

/** Server-sent events as they arrive. */
async function* changes(
  key: string,
  { lastEventId, query = '', signal }: { lastEventId?: string; query?: string; signal: AbortSignal },
) {
  const response = await openEvents({
    url: `${api.url}/v1/jobs/events${query}`,
    key,
    lastEventId: lastEventId as unknown as number,
    signal,
  });
  expect(response.status).toBe(200);
  let text = '';
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
      if (field('event') !== '')
        yield { id: field('id'), event: field('event'), job: JSON.parse(field('data')) } as Change;
    }
  }
}

describe('the jobs of an organization', () => {
  it('tell since when the newest turn of an active job has been requested', async () => {
    const { project, key } = await stage();
    const { pool } = database;
    const running = await buildJob(pool, project, { turn: 2 });
    const at = '2026-01-02T03:04:05.000Z';
    await pool.query(
      `insert into job_turns (job_id, turn, prompt, created_at) values ($1, 2, 'x', $2)
       on conflict (job_id, turn) do update set created_at = excluded.created_at`,
      [running.id, at],
    );
    const ended = await buildJob(pool, project, { status: 'completed', phase: null });
    const answer = await api.ask('/v1/jobs', { key });
    const { jobs } = listedJobsSchema.parse(answer.body);
    const since = new Map(jobs.map(({ id, activeSince }) => [id, activeSince]));
    expect([since.get(running.id), since.get(ended.id)]).toEqual([at, null]);
  });

  it('are listed across projects, newest first, by status, project and words', async () => {
    const { project, sibling, key } = await stage();
    const { pool } = database;
    await buildJob(pool, project, { title: 'one', prompt: 'Mend the lamp_post.', status: 'completed' });
    await buildJob(pool, sibling, { title: 'two', status: 'failed', branch: 'docket/lamp' });
    const { id } = await buildJob(pool, project, { title: 'three 100%' });
    await buildJob(pool, await buildProject(pool), { title: 'theirs: lamp' });

    expect(await titles(key, '')).toEqual(['three 100%', 'two', 'one']);
    expect(await titles(key, 'status=failed')).toEqual(['two']);
    expect(await titles(key, 'status=failed,completed')).toEqual(['two', 'one']);
    expect(await titles(key, 'status=failed&status=completed')).toEqual(['two', 'one']);
    expect(await titles(key, `project=${project.id}`)).toEqual(['three 100%', 'one']);
    expect(await titles(key, 'q=LAMP')).toEqual(['two', 'one']);
    expect(await titles(key, 'q=lamp_')).toEqual(['one']);
    expect(await titles(key, `q=${encodeURIComponent('100%')}`)).toEqual(['three 100%']);
    expect(await titles(key, `q=${id}`)).toEqual(['three 100%']);
    expect(await titles(key, 'q=nowhere')).toEqual([]);
  });

  it('are found by their id, however many newer ones exist', async () => {
    const { project, sibling, key } = await stage();
    const { id } = await buildJob(database.pool, project, { title: 'old', createdAt: new Date(0), status: 'failed' });
    const { key: foreign } = await stage();
    await insertEndedJobs(database.pool, project.id, 5_001);
    expect(await titles(key, `q=${id}`)).toEqual(['old']);
    expect(await titles(key, `q=${id}&status=failed&project=${project.id}`)).toEqual(['old']);
    for (const other of ['status=active', `project=${sibling.id}`])
      expect(await titles(key, `q=${id}&${other}`)).toEqual([]);
    expect(await titles(foreign, `q=${id}`)).toEqual([]);
  });

  it('are filtered by state, model, category of failure and age, and are listed oldest first on request', async () => {
    const { project, key } = await stage();
    const { pool } = database;
    const day = 86_400_000;
    await buildJob(pool, project, { title: 'queued', createdAt: new Date(Date.now() - day) });
    await buildJob(pool, project, { title: 'running', phase: 'running', model: 'offline/other' });
    await buildJob(pool, project, { title: 'waiting', phase: 'waiting' });
    await buildJob(pool, project, { title: 'cancelled', status: 'failed', failureCategory: 'cancelled' });
    await buildJob(pool, project, { title: 'failed', status: 'failed', failureCategory: 'ref_not_found' });
    await buildJob(pool, project, { title: 'done', status: 'completed' });
    for (const [query, found] of [
      ['state=queued', ['queued']],
      ['state=running', ['running']],
      ['state=waiting', ['waiting']],
      ['state=failed', ['failed']],
      ['state=cancelled', ['cancelled']],
      ['status=failed', ['failed', 'cancelled']],
      ['state=completed,failed&order=oldest', ['failed', 'done']],
      ['state=failed&status=completed', []],
      ['failure=ref_not_found', ['failed']],
      ['model=offline/other', ['running']],
      [`createdSince=${new Date(Date.now() - day / 2).toISOString()}&status=active`, ['waiting', 'running']],
      ['order=oldest&limit=2', ['queued', 'running']],
    ] as const)
      expect([query, await titles(key, query)]).toEqual([query, found]);
    const first = await api.ask('/v1/jobs?order=oldest&limit=2', { key });
    expect(await titles(key, `order=oldest&cursor=${first.body.nextCursor}`)).toEqual([
      'waiting',
      'cancelled',
      'failed',
      'done',
    ]);
  });

  it('are filtered by their pull request', async () => {
    const { project, key } = await stage();
    const { pool } = database;
    await buildJob(pool, project, { title: 'none', status: 'completed' });
    for (const state of ['open', 'merged', 'closed'] as const) {
      const { id } = await buildJob(pool, project, { title: state, status: 'completed' });
      await pool.query(`update jobs set pr_link = 'https://forge.example/1', pr_state = $2 where id = $1`, [id, state]);
    }
    const { id } = await buildJob(pool, project, { title: 'fresh', status: 'completed' });
    await pool.query(`update jobs set pr_link = 'https://forge.example/2' where id = $1`, [id]);
    for (const [filter, found] of [
      ['any', ['fresh', 'closed', 'merged', 'open']],
      ['open', ['fresh', 'open']],
      ['merged', ['merged']],
      ['closed', ['closed']],
    ] as const)
      expect([filter, await titles(key, `pullRequest=${filter}`)]).toEqual([filter, found]);
  });

  it('come in pages without omissions or repeats', async () => {
    const { project, key } = await stage();
    for (let count = 0; count < 7; count += 1) await buildJob(database.pool, project, { title: `job ${count}` });
    const seen: unknown[] = [];
    let cursor = '';
    for (let page = 0; page < 4; page += 1) {
      const { body } = await api.ask(`/v1/jobs?limit=2${cursor}`, { key });
      seen.push(...body.jobs.map((job: ListedJob) => job.details.title));
      cursor = `&cursor=${body.nextCursor}`;
      if (body.nextCursor === null) break;
    }
    expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((count) => `job ${count}`));
  });

  it.each([
    'status=broken',
    'state=active',
    'failure=X',
    'createdSince=today',
    'order=x',
    'limit=0',
    'limit=101',
    'cursor=abc',
    'project=%00',
    `q=${'a'.repeat(201)}`,
  ])('answers 400 to %s', async (query) => {
    const { key } = await stage();
    const answer = await api.ask(`/v1/jobs?${query}`, { key });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });

  it.each(['2026-11-01', '2026-11-01T00:00:00'])('asks for the zone of the time %s', async (text) => {
    const { key } = await stage();
    const { body } = await api.ask(`/v1/jobs?createdSince=${text}`, { key });
    expect(body).toEqual({ error: 'createdSince must be a time with its zone, such as 2026-11-01T00:00:00Z.' });
  });

  it('says which parameter must not be repeated', async () => {
    const { key } = await stage();
    const { body } = await api.ask('/v1/jobs?limit=1&limit=2&status=active&status=failed', { key });
    expect(body).toEqual({ error: 'The query parameter limit must not be repeated.' });
  });
});

describe('the stream of an organization’s jobs', () => {
  it('sends created and changed jobs of this organization only, and resumes after a cut', async () => {
    const { project, sibling, key } = await stage();
    const { pool } = database;
    using watching = new AbortScope();
    const stream = changes(key, watching);
    expect((await stream.next()).value).toMatchObject({ event: 'start' });
    await buildJob(pool, await buildProject(pool), { title: 'theirs' });
    const { id } = await buildJob(pool, project);
    const made = await nextOf(stream, (job) => job.id === id);
    expect(made.job).toMatchObject({ status: 'active', projectId: project.id, prompt: 'Fix the typo.' });

    await createWorkerJobStore(pool).finish({ jobId: id, turn: 1, status: 'completed', failureCategory: null });
    await nextOf(stream, (job) => job.id === id && job.status === 'completed');
    // archiving a job appends no event
    await asOperator(pool).archive(id);
    const archived = await nextOf(stream, (job) => job.id === id && job.status === 'archived');
    watching.end();

    const other = await buildJob(pool, sibling);
    using again = new AbortScope();
    const resumed = changes(key, { ...again, lastEventId: archived.id });
    const seen = await nextOf(resumed, (job) => job.id === other.id);
    expect(BigInt(seen.id)).toBeGreaterThan(BigInt(archived.id));
  });

  it('stays within a project, and ends when the process stops', async () => {
    const { project, sibling, key } = await stage();
    await using own = await serveApi(database.pool);
    using watching = new AbortScope();
    const response = await openEvents({ url: `${own.url}/v1/jobs/events?project=${sibling.id}`, key, ...watching });
    await buildJob(database.pool, project, { title: 'not this' });
    const { id } = await buildJob(database.pool, sibling);
    let text = '';
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      if (text.includes(id)) own.stop();
    }
    expect(text).not.toContain('not this');
    expect((await own.ask('/v1/jobs/events', { key })).status).toBe(503);
  });
});

class AbortScope {
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  end(): void {
    this.#controller.abort();
  }
  [Symbol.dispose](): void {
    this.end();
  }
}

async function nextOf(stream: AsyncGenerator<Change>, isWanted: (job: ListedJob) => boolean): Promise<Change> {
  for (;;) {
    const { value, done } = await stream.next();
    if (done === true) throw new Error('The stream has ended.');
    expect(JSON.stringify(value)).not.toContain('theirs');
    if (value.event === 'job' && isWanted(value.job)) return value;
  }
}
