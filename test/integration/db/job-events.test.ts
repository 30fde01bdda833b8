import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createJobEventWakeups } from '../../../db/jobs/job-event-wakeups.ts';
import { createWorkerEventStore } from '../../../db/for-worker/job-events.ts';
import type { JobRow } from '../../../db/jobs/jobs.ts';
import { createWorkerJobStore } from '../../../db/for-worker/jobs.ts';
import { createStepStore } from '../../../db/for-worker/steps.ts';
import { buildJob, buildProject } from '../../support/build.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { asOperator } from '../../support/operator.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database[Symbol.asyncDispose]());

async function newJob(): Promise<JobRow> {
  return buildJob(database.pool, await buildProject(database.pool));
}

async function eventsOf(jobId: string) {
  const { events } = await asOperator(database.pool).events(jobId, { after: 0, limit: 10_000 });
  return events;
}

const usageEvent = {
  type: 'usage',
  data: { inputTokens: 1, outputTokens: 1, costUsd: null, finishReason: 'stop' },
} as const;
const appendNotes = 'select append_job_events($1, 1, null, $2)';
const notes = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ type: 'text', data: { note: index } })));

describe('the events of a job', () => {
  it('count without a gap, whoever appends at the same time and whatever is rolled back', async () => {
    const { id } = await newJob();
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let round = 0; round < 12; round += 1) {
        const client = await database.pool.connect();
        await client.query('begin');
        await client.query(appendNotes, [id, notes(1 + ((writer + round) % 3))]);
        await client.query(round % 4 === 3 ? 'rollback' : 'commit');
        client.release();
      }
    });
    let last = 0;
    const seen: number[] = [];
    const look = async () => {
      const { events } = await asOperator(database.pool).events(id, { after: last, limit: 7 });
      for (const { seq } of events) seen.push((last = seq));
      return events.length;
    };
    const written = Promise.all(writers).then(() => true);
    do await look();
    while (!(await Promise.race([written, false])));
    while ((await look()) > 0);
    const all = (await eventsOf(id)).map(({ seq }) => seq);
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(all.length).toBeGreaterThan(8 * 12);
    expect(seen).toEqual(all);
  });

  it('tell of each phase once, and end with how the job ended', async () => {
    const jobs = createWorkerJobStore(database.pool);
    const { id } = await newJob();
    const ref = { jobId: id, turn: 1 };
    for (const phase of ['preparing', 'preparing', 'running'] as const)
      expect(await jobs.setPhase({ ...ref, phase })).toBe(true);
    await jobs.setSummary({ ...ref, title: 'Add a', message: 'Added.', incomplete: null });
    expect(await jobs.finish({ ...ref, status: 'completed', failureCategory: null })).toBe(true);
    expect(await jobs.finish({ ...ref, status: 'failed', failureCategory: 'cancelled' })).toBe(false);
    expect((await eventsOf(id)).map(({ type, data }) => [type, data])).toEqual([
      ['phase', { phase: 'queued' }],
      ['phase', { phase: 'preparing' }],
      ['phase', { phase: 'running' }],
      ['finish', { title: 'Add a', message: 'Added.', prLink: null }],
    ]);
  });

  it('tell why a job failed and what to do', async () => {
    const { id } = await newJob();
    const failure = { status: 'failed', failureCategory: 'model_refused', message: 'The model declined.' } as const;
    await createWorkerJobStore(database.pool).finish({ jobId: id, turn: 1, ...failure });
    expect((await eventsOf(id)).at(-1)).toMatchObject({
      type: 'failure',
      data: { category: 'model_refused', remedy: expect.any(String), message: 'The model declined.' },
    });
  });

  it('take nothing of a turn behind its end, and everything of the next turn', async () => {
    const { id } = await newJob();
    const steps = createStepStore(database.pool);
    const step = { jobId: id, turn: 1, step: 1 };
    const { fence } = await steps.claimAnswer(step);
    await createWorkerJobStore(database.pool).finish({
      jobId: id,
      turn: 1,
      status: 'failed',
      failureCategory: 'cancelled',
    });
    const late = { ...step, fence, offset: 0, text: 'late', isRepeated: false };
    expect(await createWorkerEventStore(database.pool).appendText(late)).toBe(false);
    await steps.storeResponse({
      ...step,
      requestHash: 'h',
      finishReason: 'stop',
      response: { content: [], text: '', toolCalls: [] },
      usage: { inputTokens: 1, outputTokens: 1 },
      costMicros: 0,
      events: { attempt: fence, ours: [usageEvent], overtaken: [usageEvent] },
    });
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(['phase', 'step-start', 'failure']);
    await database.pool.query('select append_job_events($1, 2, null, $2)', [id, notes(1)]);
    expect((await eventsOf(id)).at(-1)).toMatchObject({ seq: 4, turn: 2 });
  });
});

describe('the text of a step', () => {
  it('is taken from its newest attempt only, and until it is answered', async () => {
    const { id } = await newJob();
    const [steps, events] = [createStepStore(database.pool), createWorkerEventStore(database.pool)];
    const step = { jobId: id, turn: 1, step: 1 };
    const first = await steps.claimAnswer(step);
    const piece = { ...step, offset: 0, text: 'one', isRepeated: false };
    expect(await events.appendText({ ...piece, fence: first.fence })).toBe(true);
    const second = await steps.claimAnswer(step);
    expect(await events.appendText({ ...piece, fence: first.fence })).toBe(false);
    expect(await events.appendText({ ...piece, fence: second.fence, text: 'two' })).toBe(true);
    const answer = { content: [], text: 'two', toolCalls: [] };
    const usage = { inputTokens: 1, outputTokens: 1 };
    const rest = { requestHash: 'h', response: answer, finishReason: 'stop', usage, costMicros: null };
    expect(await steps.storeResponse({ ...step, ...rest })).toBe(true);
    expect(await events.appendText({ ...piece, fence: second.fence })).toBe(false);
    // the stored answer is taken: no attempt begins
    await steps.claimAnswer(step);
    expect((await eventsOf(id)).slice(1).map(({ type, data }) => [type, data])).toEqual([
      ['step-start', { attempt: 1 }],
      ['text', { attempt: 1, offset: 0, text: 'one' }],
      ['step-start', { attempt: 2 }],
      ['text', { attempt: 2, offset: 0, text: 'two' }],
    ]);
  });

  it('that was perhaps appended before is appended once', async () => {
    const { id } = await newJob();
    const [steps, events] = [createStepStore(database.pool), createWorkerEventStore(database.pool)];
    const step = { jobId: id, turn: 1, step: 1 };
    const { fence } = await steps.claimAnswer(step);
    const piece = { ...step, fence, offset: 0, text: 'one' };
    for (const isRepeated of [false, true, true]) expect(await events.appendText({ ...piece, isRepeated })).toBe(true);
    expect(await events.appendText({ ...piece, offset: 3, isRepeated: true })).toBe(true);
    expect((await eventsOf(id)).filter(({ type }) => type === 'text')).toHaveLength(2);
  });
});

describe('wake-ups', () => {
  const withinMs = 30_000;
  const { signal } = new AbortController();

  function wakeups(options: { pollMs?: number } = {}) {
    const made = createJobEventWakeups({
      url: database.url,
      pool: database.pool,
      applicationName: `wakeups-${crypto.randomUUID()}`,
      ...options,
    });
    onTestFinished(() => made[Symbol.asyncDispose]());
    return made;
  }

  it('come with the commit, over one connection for all watchers', async () => {
    const [mine, other] = [await newJob(), await newJob()];
    const applicationName = `one-${crypto.randomUUID()}`;
    await using made = createJobEventWakeups({
      url: database.url,
      pool: database.pool,
      applicationName,
      pollMs: 3_600_000,
    });
    using bell = made.subscribe(mine.id);
    using otherBell = made.subscribe(other.id);
    await Promise.all([bell.next({ withinMs, signal }), otherBell.next({ withinMs, signal })]); // it listens now
    const woken = bell.next({ withinMs, signal });
    await database.pool.query(appendNotes, [mine.id, notes(1)]);
    await woken;
    // one that came while nobody waited is not forgotten
    await database.pool.query(appendNotes, [mine.id, notes(1)]);
    await bell.next({ withinMs, signal });
    const { rows } = await database.pool.query('select 1 from pg_stat_activity where application_name = $1', [
      applicationName,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('come by asking when the connection does not tell', async () => {
    const { id } = await newJob();
    let lost = 0;
    const url = 'postgres://127.0.0.1:1/none';
    await using made = createJobEventWakeups({
      url,
      pool: database.pool,
      pollMs: 5,
      onConnectionLost: () => (lost += 1),
    });
    using bell = made.subscribe(id);
    await bell.next({ withinMs, signal });
    const woken = bell.next({ withinMs, signal });
    await database.pool.query(appendNotes, [id, notes(1)]);
    await woken;
    expect(lost).toBe(1);
  });

  it('end with their signal', async () => {
    const controller = new AbortController();
    using bell = wakeups({ pollMs: 3_600_000 }).subscribe('job_unknown');
    await bell.next({ withinMs, signal });
    const woken = bell.next({ withinMs: 3_600_000, signal: controller.signal });
    controller.abort();
    await woken;
  });
});
