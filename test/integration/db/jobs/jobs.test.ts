import { expect, it } from 'vitest';
import { newId } from '../../../../db/ids.ts';
import { createJobStore } from '../../../../db/jobs/jobs.ts';
import { createJobEndings } from '../../../../db/jobs/job-endings.ts';
import { createOutboxStore } from '../../../../db/jobs/outbox.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createServiceFigureStore } from '../../../../db/operations/service-figures.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { operatorOf } from '../../../../db/caller.ts';
import { newJob, seedJob, seedProject } from '../seed.ts';
import { InvalidCursorError } from '../../../../db/page-cursor.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

it('creates a job with its first turn and its outbox row, and finds it within its project only', async () => {
  const jobs = createJobStore(database.pool);
  const worked = createWorkerJobStore(database.pool);
  const owner = await seedProject(database.pool);
  const created = await jobs.create(
    operatorOf(owner),
    newJob(owner, { id: 'job_first', prompt: 'nul \0 is replaced', draft: true }),
  );
  const expected = {
    id: 'job_first',
    ...owner,
    status: 'active',
    phase: 'queued',
    turn: 1,
    repository: 'https://example.com/acme/web.git',
    model: 'offline/editor',
    draft: true,
    steps: 0,
    inputTokens: 0,
    prLink: null,
    createdAt: expect.any(Date),
    archivedAt: null,
  };
  expect(created).toMatchObject({ kind: 'created', job: expected });
  expect(await jobs.find(owner, owner.projectId, 'job_first')).toMatchObject(expected);
  expect(await worked.get('job_first')).toMatchObject(expected);
  const other = await seedProject(database.pool);
  expect(await jobs.find(other, other.projectId, 'job_first')).toBeNull();
  expect(await worked.prompts('job_first', 3)).toMatchObject([{ prompt: 'nul \uFFFD is replaced' }]);
  const { rows } = await database.pool.query('select turn from job_outbox where job_id = $1', ['job_first']);
  expect(rows).toEqual([{ turn: 1 }]);
});

it('batches lookups of one turn of the event loop, including ids that cannot exist', async () => {
  const jobs = createJobStore(database.pool);
  const owner = await seedProject(database.pool);
  const known = await Promise.all(Array.from({ length: 5 }, () => jobs.create(operatorOf(owner), newJob(owner))));
  const ids = known.flatMap((created) => (created.kind === 'created' ? [created.job.id] : []));
  const asked = [...ids, 'job_unknown', 'a\0b', "'; drop table jobs", 'x'.repeat(3_000), '', '\ud800'];
  const found = await Promise.all(asked.map((id) => jobs.find(owner, owner.projectId, id)));
  expect(found.map((job) => job?.id ?? null)).toEqual([...ids, null, null, null, null, null, null]);
});

it('keeps the row of a job until a transaction changes or removes it', async () => {
  const jobs = createJobStore(database.pool);
  const owner = await seedProject(database.pool);
  const { id } = newJob(owner);
  await jobs.create(operatorOf(owner), newJob(owner, { id }));
  const find = () => jobs.find(owner, owner.projectId, id);
  const first = await find();
  expect(first).toMatchObject({ id, status: 'active' });
  expect(await find()).toBe(first);
  await createJobEndings(database.pool).cancel(operatorOf(owner), id);
  expect(await find()).toMatchObject({ id, status: 'failed' });
  await database.pool.query('delete from jobs where id = $1', [id]);
  expect(await find()).toBeNull();
});

it('creates one job for many simultaneous requests with one idempotency key', async () => {
  const jobs = createJobStore(database.pool);
  const owner = await seedProject(database.pool);
  const idempotency = { key: 'once', requestHash: 'h1' };
  const created = await Promise.all(
    Array.from({ length: 8 }, () => jobs.create(operatorOf(owner), newJob(owner, { idempotency }))),
  );
  const kinds = created.map(({ kind }) => kind).sort();
  expect(kinds).toEqual(['created', ...Array.from({ length: 7 }, () => 'replayed')]);
  expect(new Set(created.map((each) => ('job' in each ? each.job.id : null))).size).toBe(1);
  const conflict = await jobs.create(
    operatorOf(owner),
    newJob(owner, { idempotency: { key: 'once', requestHash: 'h2' } }),
  );
  expect(conflict).toEqual({ kind: 'conflict' });
  const other = await seedProject(database.pool);
  const elsewhere = await jobs.create(operatorOf(other), newJob(other, { idempotency }));
  expect(elsewhere.kind).toBe('created');
  const { rows } = await database.pool.query('select id from jobs where project_id = $1', [owner.projectId]);
  expect(rows).toHaveLength(1);
});

it('lists newest first in pages without gaps or repeats, even if times differ by a microsecond or not at all', async () => {
  const jobs = createJobStore(database.pool);
  const owner = await seedProject(database.pool);
  const offsets = [0, 1, 1, 2, 999, 1_000, 1_001];
  for (const [index, offset] of offsets.entries()) {
    const id = `job_page${index}`;
    await jobs.create(operatorOf(owner), newJob(owner, { id }));
    await database.pool.query(
      `update jobs set created_at = '2026-01-01T00:00:00Z'::timestamptz + $2::integer * interval '1 microsecond' where id = $1`,
      [id, offset],
    );
  }
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await jobs.list(owner, owner.projectId, { limit: 2, cursor });
    seen.push(...page.jobs.map(({ id }) => id));
    expect(page.jobs[0]).not.toHaveProperty('createdMicros');
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual([6, 5, 4, 3, 2, 1, 0].map((index) => `job_page${index}`));
  const exact = await jobs.list(owner, owner.projectId, { limit: 7 });
  expect(exact.nextCursor).toBeNull();
});

it('lists by status, and refuses a cursor that no page returned', async () => {
  const jobs = createJobStore(database.pool);
  const worked = createWorkerJobStore(database.pool);
  const owner = await seedProject(database.pool);
  await jobs.create(operatorOf(owner), newJob(owner, { id: 'job_ended' }));
  await jobs.create(operatorOf(owner), newJob(owner, { id: 'job_running' }));
  await worked.finish({ jobId: 'job_ended', turn: 1, status: 'failed', failureCategory: 'cancelled' });
  const page = await jobs.list(owner, owner.projectId, { status: 'failed', limit: 10 });
  expect(page.jobs.map(({ id }) => id)).toEqual(['job_ended']);
  await expect(jobs.list(owner, owner.projectId, { limit: 10, cursor: 'made-up' })).rejects.toThrow(InvalidCursorError);
  expect(await jobs.list(owner, 'prj\0', { limit: 10 })).toEqual({ jobs: [], nextCursor: null });
});

it('lets the newest turn write while the job is active, and nothing afterwards', async () => {
  const worked = createWorkerJobStore(database.pool);
  const ref = await seedJob(database.pool);
  const published = {
    branch: 'docket/x',
    headCommit: 'c',
    headTree: 't',
    prId: 'pr_1',
    prLink: 'http://x/pulls/pr_1',
    prState: 'open' as const,
    prDraft: true,
    check: { command: 'make', result: 'failed' as const },
  };
  expect(await worked.setPhase({ ...ref, phase: 'running' })).toBe(true);
  expect(await worked.setBase({ ...ref, baseBranch: 'main', baseCommit: 'abc' })).toBe(true);
  expect(await worked.setSummary({ ...ref, title: 'T\0', message: 'done', incomplete: 'half\0' })).toBe(true);
  const prText = { title: 'T', body: 'B' };
  expect(await worked.setPublished({ ...ref, ...published, prText })).toBe(true);
  expect(await worked.setPhase({ ...ref, turn: 2, phase: 'publishing' })).toBe(false);
  expect(await worked.finish({ ...ref, turn: 2, status: 'failed', failureCategory: 'internal' })).toBe(false);

  expect(await worked.finish({ ...ref, status: 'completed', failureCategory: null })).toBe(true);
  const ended = await worked.get(ref.jobId);
  expect(ended).toMatchObject({
    status: 'completed',
    phase: null,
    baseBranch: 'main',
    baseCommit: 'abc',
    title: 'T\uFFFD',
    message: 'done',
    incomplete: 'half\uFFFD',
    ...published,
    endedAt: expect.any(Date),
  });
  expect(await worked.finish({ ...ref, status: 'failed', failureCategory: 'internal', message: 'no' })).toBe(false);
  expect(await worked.setPhase({ ...ref, phase: 'running' })).toBe(false);
  expect(await worked.get(ref.jobId)).toEqual(ended);
  const { rows } = await database.pool.query('select status, ended_at from job_turns where job_id = $1', [ref.jobId]);
  expect(rows).toEqual([{ status: 'completed', ended_at: expect.any(Date) }]);
});

it('lets exactly one of two simultaneous endings win', async () => {
  const worked = createWorkerJobStore(database.pool);
  for (let round = 0; round < 10; round += 1) {
    const ref = await seedJob(database.pool);
    const [completed, failed] = await Promise.all([
      worked.finish({ ...ref, status: 'completed', failureCategory: null }),
      worked.finish({ ...ref, status: 'failed', failureCategory: 'internal' }),
    ]);
    expect([completed, failed].filter(Boolean)).toHaveLength(1);
    const { rows } = await database.pool.query('select status from job_turns where job_id = $1', [ref.jobId]);
    const job = await worked.get(ref.jobId);
    expect(rows[0].status).toBe(job?.status);
    expect(job?.status).toBe(completed ? 'completed' : 'failed');
  }
});

it('counts the usage of each answered step once, however many attempts store it', async () => {
  const worked = createWorkerJobStore(database.pool);
  const steps = createStepStore(database.pool);
  const ref = await seedJob(database.pool);
  for (const step of [1, 2, 3]) {
    await steps.claim({ ...ref, step });
    if (step === 3) continue;
    const response = { content: [], text: '', toolCalls: [] };
    const usage = { inputTokens: 3_000_000_000, outputTokens: step };
    const answer = {
      ...ref,
      step,
      model: 'offline/editor',
      requestHash: 'h',
      response,
      finishReason: 'stop',
      usage,
      costMicros: 700,
    };
    const stored = await Promise.all(Array.from({ length: 4 }, () => steps.storeResponse(answer)));
    expect(stored.filter(Boolean)).toHaveLength(1);
  }
  const expected = { steps: 2, inputTokens: 6_000_000_000, outputTokens: 3, costMicros: 1_400 };
  expect(await worked.get(ref.jobId)).toMatchObject(expected);
  expect(await worked.usage(ref.jobId, 1)).toEqual(expected);
  expect(await worked.usage(ref.jobId, 2)).toEqual({ steps: 0, inputTokens: 0, outputTokens: 0, costMicros: 0 });
  const { rows } = await database.pool.query(
    'select project_spending.cost_micros::int as cost from project_spending join jobs using (project_id) where jobs.id = $1',
    [ref.jobId],
  );
  expect(rows).toEqual([{ cost: 1_400 }]);
});

it('reports the cost of a job as unknown once one of its calls had no price, and still counts the others', async () => {
  const worked = createWorkerJobStore(database.pool);
  const steps = createStepStore(database.pool);
  const figures = createServiceFigureStore(database.pool);
  const before = await figures.read();
  const ref = await seedJob(database.pool);
  for (const [index, costMicros] of [5, null, 7].entries()) {
    await steps.claim({ ...ref, step: index + 1 });
    const response = { content: [], text: '', toolCalls: [] };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const answer = {
      ...ref,
      step: index + 1,
      model: 'offline/editor',
      requestHash: 'h',
      response,
      finishReason: 'stop',
      usage,
      costMicros,
    };
    await steps.storeResponse(answer);
  }
  expect(await worked.get(ref.jobId)).toMatchObject({ steps: 3, costMicros: null });
  expect(await worked.usage(ref.jobId, 1)).toMatchObject({ steps: 3, costMicros: null });
  expect((await figures.read()).costMicros).toBe(before.costMicros + 12);
});

it('gives each due start to one of several claimers, and again only after the lease expires', async () => {
  const outbox = createOutboxStore(database.pool);
  await database.pool.query('delete from job_outbox');
  const owner = await seedProject(database.pool);
  const jobs = createJobStore(database.pool);
  const ids = Array.from({ length: 20 }, () => newId('job_'));
  for (const id of ids) await jobs.create(operatorOf(owner), newJob(owner, { id }));
  const claims = await Promise.all(Array.from({ length: 5 }, () => outbox.claimDue({ limit: 8, leaseMs: 60_000 })));
  const claimed = claims.flat();
  expect(new Set(claimed.map(({ jobId }) => jobId)).size).toBe(claimed.length);
  const rest = await outbox.claimDue({ limit: 100, leaseMs: 60_000 });
  expect([...claimed, ...rest].map(({ jobId }) => jobId).sort()).toEqual([...ids].sort());
  expect(await outbox.claimDue({ limit: 100, leaseMs: 60_000 })).toEqual([]);

  await database.pool.query(`update job_outbox set next_attempt_at = now() - interval '1 second'`);
  const [entry] = await outbox.claimDue({ limit: 1, leaseMs: 60_000 });
  if (entry === undefined) throw new Error('nothing is due');
  await outbox.remove(entry);
  expect(await outbox.claimDue({ limit: 100, leaseMs: 60_000 })).toHaveLength(19);
});
