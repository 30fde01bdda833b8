import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createJobEventBell,
  createJobEventWakeups,
  type JobEventBell,
  type JobEventWakeups,
} from '../../../../db/jobs/job-event-wakeups.ts';
import { createWorkerEventStore } from '../../../../db/for-worker/job-events.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { claimAnswer } from '../../../support/database/claim-answer.ts';
import { buildLoneJob, eventsOf } from '../../../support/database/job-events.ts';
import { createTestDatabase, untilBlocked } from '../../../support/database/database.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const usageEvent = {
  type: 'usage',
  data: { inputTokens: 1, outputTokens: 1, costUsd: null, finishReason: 'stop' },
} as const;
const appendNotes = 'select append_job_events($1, 1, null, $2)';
const notes = (count: number) =>
  JSON.stringify(Array.from({ length: count }, (_, index) => ({ type: 'text', data: { note: index } })));

describe('the events of a job', () => {
  it('are numbered without gaps despite concurrent appends and rollbacks', async () => {
    const { id } = await buildLoneJob(database.pool);
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
    const all = (await eventsOf(database.pool, id)).map(({ seq }) => seq);
    expect(all).toEqual(all.map((_, index) => index + 1));
    expect(all.length).toBeGreaterThan(8 * 12);
    expect(seen).toEqual(all);
  });

  it('report each phase once, and end with the job’s result', async () => {
    const jobs = createWorkerJobStore(database.pool);
    const { id } = await buildLoneJob(database.pool);
    const ref = { jobId: id, turn: 1 };
    for (const phase of ['preparing', 'preparing', 'running'] as const)
      expect(await jobs.setPhase({ ...ref, phase })).toBe(true);
    await jobs.setSummary({ ...ref, title: 'Add a', message: 'Added.', incomplete: null });
    expect(await jobs.finish({ ...ref, status: 'completed', failureCategory: null })).toBe(true);
    expect(await jobs.finish({ ...ref, status: 'failed', failureCategory: 'cancelled' })).toBe(false);
    expect((await eventsOf(database.pool, id)).map(({ type, data }) => [type, data])).toEqual([
      ['phase', { phase: 'queued' }],
      ['phase', { phase: 'preparing' }],
      ['phase', { phase: 'running' }],
      ['finish', { title: 'Add a', message: 'Added.', prLink: null }],
    ]);
  });

  it('report why a job failed and what to do', async () => {
    const { id } = await buildLoneJob(database.pool);
    const failure = { status: 'failed', failureCategory: 'model_refused', message: 'The model declined.' } as const;
    await createWorkerJobStore(database.pool).finish({ jobId: id, turn: 1, ...failure });
    expect((await eventsOf(database.pool, id)).at(-1)).toMatchObject({
      type: 'failure',
      data: { category: 'model_refused', remedy: expect.any(String), message: 'The model declined.' },
    });
  });

  it('accept nothing for a turn after its end, and everything for the next turn', async () => {
    const { id } = await buildLoneJob(database.pool);
    const steps = createStepStore(database.pool);
    const step = { jobId: id, turn: 1, step: 1 };
    const { fence } = await claimAnswer(database.pool, step);
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
      model: 'offline/editor',
      requestHash: 'h',
      finishReason: 'stop',
      response: { content: [], text: '', toolCalls: [] },
      usage: { inputTokens: 1, outputTokens: 1 },
      costMicros: 0,
      events: { attempt: fence, ours: [usageEvent], overtaken: [usageEvent] },
    });
    expect((await eventsOf(database.pool, id)).map(({ type }) => type)).toEqual(['phase', 'step-start', 'failure']);
    await database.pool.query('select append_job_events($1, 2, null, $2)', [id, notes(1)]);
    expect((await eventsOf(database.pool, id)).at(-1)).toMatchObject({ seq: 4, turn: 2 });
  });
});

function bellOf(wakeups: JobEventWakeups, jobId: string) {
  const bell = createJobEventBell();
  const subscription = wakeups.onChange(jobId, bell.ring);
  onTestFinished(() => subscription[Symbol.dispose]());
  return bell;
}

describe('wake-ups', () => {
  const withinMs = 30_000;
  const { signal } = new AbortController();

  function wakeups(options: { pollMs?: number; applicationName?: string } = {}) {
    const made = createJobEventWakeups({
      url: database.url,
      pool: database.pool,
      applicationName: `wakeups-${crypto.randomUUID()}`,
      ...options,
    });
    onTestFinished(() => made[Symbol.asyncDispose]());
    return made;
  }

  it('arrive after the commit, in each process over one connection for all watchers', async () => {
    const [mine, other] = [await buildLoneJob(database.pool), await buildLoneJob(database.pool)];
    const applicationName = `one-${crypto.randomUUID()}`;
    const made = wakeups({ applicationName, pollMs: 3_600_000 });
    const bells = [bellOf(made, mine.id), bellOf(wakeups({ pollMs: 3_600_000 }), mine.id), bellOf(made, other.id)];
    const allRing = (rung: JobEventBell[]) => Promise.all(rung.map((bell) => bell.next({ signal })));
    await allRing(bells); // they are listening now
    const woken = allRing(bells.slice(0, 2));
    const jobs = createWorkerJobStore(database.pool);
    await jobs.setPhase({ jobId: mine.id, turn: 1, phase: 'preparing' });
    await woken;
    // a wake-up without a waiter is not lost
    await jobs.setPhase({ jobId: mine.id, turn: 1, phase: 'running' });
    await allRing(bells.slice(0, 2));
    const { rows } = await database.pool.query('select 1 from pg_stat_activity where application_name = $1', [
      applicationName,
    ]);
    expect(rows).toHaveLength(1);
  });

  it('reach a watcher that came between the write and its commit', async () => {
    const { id } = await buildLoneJob(database.pool);
    const holder = await database.pool.connect();
    await holder.query('begin');
    await holder.query('select from job_event_logs where job_id = $1 for update', [id]);
    const writing = createWorkerJobStore(database.pool).setPhase({ jobId: id, turn: 1, phase: 'preparing' });
    await untilBlocked(database);
    const bell = bellOf(wakeups({ pollMs: 3_600_000 }), id);
    await bell.next({ signal }); // it is listening now
    expect(await eventsOf(database.pool, id)).toHaveLength(1);
    await holder.query('rollback');
    holder.release();
    // the notice of the new job may ring, too
    do await bell.next({ signal });
    while ((await eventsOf(database.pool, id)).length < 2);
    expect(await writing).toBe(true);
  });

  it('come from polling when the writer died before it could notify', async () => {
    const { id } = await buildLoneJob(database.pool);
    const bell = bellOf(wakeups({ pollMs: 5 }), id);
    await bell.next({ signal }); // it is listening now
    // the first poll rings in any case
    for (let round = 0; round < 3; round += 1) {
      await database.pool.query(appendNotes, [id, notes(1)]);
      await bell.next({ signal });
    }
  });

  it('come from polling when the connection does not deliver them', async () => {
    const { id } = await buildLoneJob(database.pool);
    let lost = 0;
    const url = 'postgres://127.0.0.1:1/none';
    await using made = createJobEventWakeups({
      url,
      pool: database.pool,
      pollMs: 5,
      onConnectionLost: () => (lost += 1),
    });
    const bell = bellOf(made, id);
    await bell.next({ withinMs, signal });
    const woken = bell.next({ withinMs, signal });
    await database.pool.query(appendNotes, [id, notes(1)]);
    await woken;
    expect(lost).toBe(1);
  });

  it('end with their signal', async () => {
    const controller = new AbortController();
    const bell = bellOf(wakeups({ pollMs: 3_600_000 }), 'job_unknown');
    await bell.next({ withinMs, signal });
    const woken = bell.next({ withinMs: 3_600_000, signal: controller.signal });
    controller.abort();
    await woken;
  });
});
