import { describe, expect, it } from 'vitest';
import { jobListSchema } from '../../../../api/jobs/job-schemas.ts';
import { agentJobSchema } from '../../../../db/jobs/agent-job.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { buildJob, buildKey, buildProject } from '../../../support/database/build.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { serveApi } from '../serve.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);
const api = ofFile(() =>
  serveApi(database.pool, {
    DOCKET_JOBS_PER_HOUR: '1000',
    DOCKET_LOCAL_REPOSITORIES: '/srv/repositories',
  }),
);
const project = ofFile(() =>
  buildProject(database.pool, {
    defaultRef: 'trunk',
    allowedRepositories: ['https://github.com/acme/other', '/srv/repositories/lamp.git'],
  }),
);
const admin = ofFile(() => buildKey(database.pool, project));

async function create(json: unknown, headers: Record<string, string> = {}) {
  const { key } = admin;
  return api.ask(`/v2/agent/${project.id}/job`, { key, json, headers });
}

describe('creating a job', () => {
  it('answers 201 with the active job, which polling then returns unchanged', async () => {
    const { key } = admin;
    const before = api.created.count;
    const created = await create({ prompt: 'Fix the typo.' });
    expect(created.status).toBe(201);
    expect(agentJobSchema.strict().parse(created.body)).toMatchObject({
      status: 'active',
      source: { repository: 'https://github.com/acme/docs', ref: 'trunk' },
      model: 'offline/editor',
      prLink: null,
      archivedAt: null,
      details: { phase: 'queued', failure: null },
    });
    expect(api.created.count).toBe(before + 1);
    expect(created.headers.get('location')).toBe(`/v2/agent/${project.id}/job/${created.body.id}`);
    expect(created.headers.get('ratelimit-policy')).toBe('"job";q=1000;w=3600');
    expect(created.headers.get('ratelimit')).toMatch(/^"job";r=\d+;t=\d+$/);

    const polled = await api.ask(`/v2/agent/${project.id}/job/${created.body.id}`, { key });
    expect(polled.status).toBe(200);
    expect(polled.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(polled.body).toEqual(created.body);
    const { rows } = await database.pool.query('select * from job_outbox where job_id = $1', [created.body.id]);
    expect(rows).toHaveLength(1);
  });

  it('accepts an allowed repository, a ref, a model and a draft', async () => {
    const other = await create({
      prompt: 'x',
      source: { repository: 'https://GitHub.com/acme/other.git', ref: 'v1.0' },
      draft: true,
      model: 'offline/editor',
    });
    expect(other.body.source).toEqual({ repository: 'https://github.com/acme/other', ref: 'v1.0' });
    const local = await create({ prompt: 'x', source: { repository: '/srv/repositories/lamp.git' } });
    expect(local.body.source).toEqual({ repository: 'file:///srv/repositories/lamp.git', ref: null });
    const own = await create({ prompt: 'x', source: { repository: 'https://github.com/acme/docs.git/' } });
    expect(own.body.source).toEqual({ repository: 'https://github.com/acme/docs', ref: 'trunk' });
    // forges ignore the case of names, and send the one of the repository's creation in their events
    const event = await create({ prompt: 'x', source: { repository: 'https://github.com/Acme/Docs.git' } });
    expect(event.body.source).toEqual({ repository: 'https://github.com/acme/docs', ref: 'trunk' });
    const events = await create({ prompt: 'x', source: { repository: 'https://github.com/ACME/Other' } });
    expect(events.body.source).toEqual({ repository: 'https://github.com/acme/other', ref: null });
  });

  it('accepts a prompt of 100,000 characters, however many bytes they take', async () => {
    expect((await create({ prompt: '😀'.repeat(100_000) })).status).toBe(201);
    expect((await create({ prompt: 'a'.repeat(100_001) })).status).toBe(400);
  });

  it.each<[string, unknown, number]>([
    ['no prompt', {}, 400],
    ['an empty prompt', { prompt: '' }, 400],
    ['a blank prompt', { prompt: ' \n\t' }, 400],
    ['a prompt of a million characters', { prompt: 'a'.repeat(1_000_000) }, 400],
    ['a prompt with a NUL', { prompt: 'a\0b' }, 400],
    ['a number for a prompt', { prompt: 7 }, 400],
    ['null for a prompt', { prompt: null }, 400],
    ['a list for a prompt', { prompt: ['a'] }, 400],
    ['a text for source', { prompt: 'x', source: 'https://github.com/acme/docs' }, 400],
    ['a list for source', { prompt: 'x', source: [] }, 400],
    ['a number for ref', { prompt: 'x', source: { ref: 1 } }, 400],
    ['a number for model', { prompt: 'x', model: 1 }, 400],
    ['an unknown provider', { prompt: 'x', model: 'nobody/nothing' }, 400],
    ['a model without a key here', { prompt: 'x', model: 'anthropic/claude' }, 400],
    ['a model with a NUL', { prompt: 'x', model: 'offline/\0' }, 400],
    ['a text for draft', { prompt: 'x', draft: 'yes' }, 400],
    ['a list for a body', [], 400],
    ['null for a body', null, 400],
    ['a text for a body', 'prompt', 400],
    [
      'a repository with a password',
      { prompt: 'x', source: { repository: 'https://u:hunter2@github.com/acme/docs' } },
      400,
    ],
    ['an ext:: repository', { prompt: 'x', source: { repository: 'ext::sh -c id' } }, 400],
    ['an ssh repository', { prompt: 'x', source: { repository: 'git@github.com:acme/docs.git' } }, 400],
    ['a repository of nobody', { prompt: 'x', source: { repository: 'https://github.com/acme/secret' } }, 400],
    ['a repository on another host', { prompt: 'x', source: { repository: 'https://evil.example/acme/docs' } }, 400],
    ['a local path in another case', { prompt: 'x', source: { repository: '/srv/repositories/Lamp.git' } }, 400],
    ['a path outside of the root', { prompt: 'x', source: { repository: '/etc/passwd' } }, 400],
    ['an empty repository', { prompt: 'x', source: { repository: '' } }, 400],
    ['a ref like an option', { prompt: 'x', source: { ref: '--upload-pack=id' } }, 400],
    ['a ref with a space', { prompt: 'x', source: { ref: 'a b' } }, 400],
    ['a ref with a line break', { prompt: 'x', source: { ref: 'a\nb' } }, 400],
    ['an empty ref', { prompt: 'x', source: { ref: '' } }, 400],
  ])('refuses %s with one sentence', async (_, json, status) => {
    const answer = await create(json);
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
    expect(answer.body.error).toMatch(/^[A-Z].*\.$|^[a-z][\w.]* .*\.$/);
    expect(answer.text).not.toContain('hunter2');
  });

  it.each<[string, string | Buffer, Record<string, string>, number]>([
    ['broken JSON', '{"prompt":', { 'content-type': 'application/json' }, 400],
    ['no type', '{"prompt":"x"}', {}, 415],
    ['another type', '{"prompt":"x"}', { 'content-type': 'text/plain' }, 415],
    ['a compressed body', '{}', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, 415],
    ['no UTF-8', Buffer.from([0xff, 0xfe]), { 'content-type': 'application/json' }, 400],
    ['deep JSON', '['.repeat(100_000), { 'content-type': 'application/json' }, 400],
    ['ten megabytes', 'x'.repeat(10_000_000), { 'content-type': 'application/json' }, 413],
  ])('refuses %s', async (_, body, headers, status) => {
    const { key } = admin;
    const answer = await api.ask(`/v2/agent/${project.id}/job`, { key, body, headers });
    expect(answer.status).toBe(status);
    expect(Object.keys(answer.body)).toEqual(['error']);
  });

  it('refuses a missing body', async () => {
    const { key } = admin;
    const answer = await api.ask(`/v2/agent/${project.id}/job`, { key, method: 'POST' });
    expect([answer.status, answer.body]).toEqual([400, { error: 'The body is empty; it must be a JSON object.' }]);
  });
});

describe('an Idempotency-Key', () => {
  it('returns the first job again for the same body, and 409 for a different one', async () => {
    const headers = { 'idempotency-key': 'order 66' };
    const first = await create({ prompt: 'once', draft: false }, headers);
    const again = await create({ draft: false, prompt: 'once' }, headers);
    const other = await create({ prompt: 'twice' }, headers);
    expect([first.status, again.status, other.status]).toEqual([201, 200, 409]);
    expect(first.headers.get('idempotent-replay')).toBeNull();
    expect(again.headers.get('idempotent-replay')).toBe('true');
    expect(again.body.id).toBe(first.body.id);
    expect(Object.keys(other.body)).toEqual(['error']);
  });

  it('creates one job for twelve simultaneous requests', async () => {
    const headers = { 'idempotency-key': 'all at once' };
    const answers = await Promise.all(Array.from({ length: 12 }, () => create({ prompt: 'together' }, headers)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect(answers.map(({ status }) => status).sort()).toEqual([...Array(11).fill(200), 201]);
  });

  it('never collides with the same key of another project', async () => {
    const project = await buildProject(database.pool);
    const { key } = await buildKey(database.pool, project);
    const headers = { 'idempotency-key': 'mine' };
    const mine = await create({ prompt: 'a' }, headers);
    const theirs = await api.ask(`/v2/agent/${project.id}/job`, { key, json: { prompt: 'b' }, headers });
    expect([mine.status, theirs.status]).toEqual([201, 201]);
    expect(theirs.body.id).not.toBe(mine.body.id);
  });

  it.each(['x'.repeat(256), '\u00e9', ' '])('is refused when it is %j', async (value) => {
    const answer = await create({ prompt: 'x' }, { 'idempotency-key': value });
    // a blank header value is trimmed to nothing on the way
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });

  it('is not used up by a request that was refused', async () => {
    const headers = { 'idempotency-key': 'second try' };
    expect((await create({ prompt: '' }, headers)).status).toBe(400);
    expect((await create({ prompt: 'now right' }, headers)).status).toBe(201);
  });
});

describe('listing jobs', () => {
  it('returns every job once, newest first, in pages that new jobs do not shift', async () => {
    const project = await buildProject(database.pool);
    const { key } = await buildKey(database.pool, project);
    const made: string[] = [];
    for (let count = 0; count < 7; count += 1) made.push((await buildJob(database.pool, project)).id);
    // the same moment for all, so that only the id orders them
    await database.pool.query(`update jobs set created_at = '2026-01-01' where project_id = $1`, [project.id]);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = `limit=3${cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`}`;
      const page = await api.ask(`/v2/agent/${project.id}/jobs?${query}`, { key });
      const { jobs, nextCursor } = jobListSchema.strict().parse(page.body);
      seen.push(...jobs.map(({ id }) => id));
      cursor = nextCursor;
      await buildJob(database.pool, project);
    } while (cursor !== null);
    expect(seen).toEqual(made.toSorted().toReversed());
  });

  it('filters by status', async () => {
    const project = await buildProject(database.pool);
    const { key } = await buildKey(database.pool, project);
    await buildJob(database.pool, project);
    const done = await buildJob(database.pool, project, { status: 'completed', phase: null });
    const page = await api.ask(`/v2/agent/${project.id}/jobs?status=completed`, { key });
    expect(page.body.jobs.map(({ id }: { id: string }) => id)).toEqual([done.id]);
    expect(page.body.nextCursor).toBeNull();
  });

  it.each([
    'limit=0',
    'limit=101',
    'limit=1.5',
    'limit=x',
    'limit=1&limit=2',
    'status=done',
    'status=',
    'cursor=x',
    'cursor=%00',
    'cursor=',
  ])('refuses ?%s', async (query) => {
    const { key } = admin;
    const answer = await api.ask(`/v2/agent/${project.id}/jobs?${query}`, { key });
    expect([answer.status, Object.keys(answer.body)]).toEqual([400, ['error']]);
  });
});

describe('the diff of a job', () => {
  it('is empty before any change, and then the newest patch', async () => {
    const { key } = admin;
    const job = await buildJob(database.pool, project);
    const path = `/v2/agent/${project.id}/job/${job.id}/diff`;
    const empty = await api.ask(path, { key });
    expect([empty.status, empty.text]).toEqual([200, '']);
    expect(empty.headers.get('content-type')).toBe('text/x-diff; charset=utf-8');

    await database.pool.query("update jobs set base_commit = 'c0' where id = $1", [job.id]);
    const steps = createStepStore(database.pool);
    const ref = { jobId: job.id, turn: 1, step: 1 };
    const { fence } = await steps.claim(ref);
    const patch = 'diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-colour\n+größer\n';
    await steps.storeResults({
      ...ref,
      fence,
      results: [],
      tree: 't1',
      patch: null,
      snapshot: {
        tree: 't1',
        commit: 'c1',
        baseCommit: 'c0',
        pack: Buffer.from('pack'),
        patch,
        changedFiles: 1,
        additions: 2,
        deletions: 1,
      },
    });
    expect((await api.ask(path, { key })).text).toBe(patch);
  });
});
