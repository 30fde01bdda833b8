import { describe, expect, it } from 'vitest';
import { createJobEventBell, createJobEventWakeups } from '../../../db/jobs/job-event-wakeups.ts';
import type { JobEventRow } from '../../../db/jobs/job-events.ts';
import { claimAnswer } from '../../support/database/claim-answer.ts';
import { createTestDatabase } from '../../support/database/database.ts';
import { createTestRepository } from '../../support/git-repository.ts';
import { startScriptedModelServer } from '../../support/servers/scripted-model-server.ts';
import { startTestWorker } from '../../support/stack/worker.ts';
import { asOperator } from '../../support/stack/operator.ts';
import { ofFile } from '../../support/of-file.ts';
import { startJobStack } from '../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const { signal } = new AbortController();

/** Resolves with all events so far once one of them is the expected one. */
async function eventsUntil(jobId: string, isIt: (event: JobEventRow, all: JobEventRow[]) => boolean) {
  await using wakeups = createJobEventWakeups({ url: database.url, pool: database.pool });
  const bell = createJobEventBell();
  using _ = wakeups.onChange(jobId, bell.ring);
  for (;;) {
    const { events } = await asOperator(database.pool).events(jobId, { after: 0, limit: 1_000 });
    if (events.some((event) => isIt(event, events))) return events;
    await bell.next({ withinMs: 60_000, signal });
  }
}

function textOf(events: JobEventRow[]): string {
  return events.map(({ type, data }) => (type === 'text' ? data['text'] : '')).join('');
}

describe('the events of a job', () => {
  it('report its steps in order', async () => {
    await using stack = await startJobStack({ database, files: { 'a.txt': 'one\n' } });
    const { repository, model, worker } = stack;
    model.script(
      { text: 'I write.', toolCalls: [{ name: 'write', input: { path: 'b.txt', content: 'two\n' } }] },
      { toolCalls: [{ name: 'finish', input: { title: 'Add b', summary: 'Added.' } }] },
    );
    const job = await worker.runJob({ prompt: 'Go', repository: repository.path });
    const { events, status } = await asOperator(database.pool).events(job.id, { after: 0, limit: 1_000 });
    expect(status).toBe('completed');
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.map(({ step, type }) => (step === null ? type : `${step} ${type}`))).toEqual([
      'phase',
      'phase',
      'phase',
      '1 step-start',
      '1 text',
      '1 tool-call',
      '1 usage',
      '1 tool-result',
      '1 diff',
      '2 step-start',
      '2 tool-call',
      '2 usage',
      '2 tool-result',
      'phase',
      'finish',
    ]);
    expect(events.find(({ type }) => type === 'diff')?.data).toEqual({
      changedFiles: 1,
      additions: 1,
      deletions: 0,
      files: ['b.txt'],
    });
    expect(events.at(-1)?.data).toEqual({ title: 'Add b', message: 'Added.', prLink: job.prLink });
    expect(model.violations).toEqual([]);
  });

  it('deliver the model’s text while it is being generated', async () => {
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script({ text: ['I look', ' around', ' and', ' see.'], stall: 3 });
    const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
    await worker.startJob(id);
    const events = await eventsUntil(id, (_, all) => textOf(all).includes('around'));
    expect(textOf(events)).toBe('I look around');
    model.release();
    expect(await worker.ended(id)).toMatchObject({ status: 'completed', message: 'I look around and see.' });
    const all = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    expect(textOf(all.events)).toBe('I look around and see.');
  });

  it('mark where the text of a failed attempt is discarded', async () => {
    const { promise: seen, resolve } = Promise.withResolvers<void>();
    await using stack = await startJobStack({ database });
    const { repository, model, worker } = stack;
    model.script({ text: ['Half an', ' answer', ' lost'], stall: 2, cut: 3 }, { text: 'A whole answer' });
    const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
    await worker.startJob(id);
    void eventsUntil(id, ({ type }) => type === 'text').then(() => {
      model.release();
      resolve();
    });
    await seen;
    expect(await worker.ended(id)).toMatchObject({ status: 'completed', message: 'A whole answer' });
    const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    const again = events.findIndex(({ type, data }) => type === 'step-start' && data['attempt'] === 2);
    expect(textOf(events.slice(0, again))).toMatch(/^Half an/);
    expect(textOf(events.slice(again))).toBe('A whole answer');
  });

  it('deliver a complete answer when another attempt started before it was stored', async () => {
    const text = ['I look', ' around', ' and', ' see.'];
    // a process that stalls loses its heartbeat, and Temporal starts an attempt of its own, which asks again
    await using stack = await startJobStack({
      database,
      change: ({ steps }) => ({
        steps: {
          ...steps,
          async storeResponse(answer) {
            await claimAnswer(database.pool, answer);
            return steps.storeResponse(answer);
          },
        },
      }),
    });
    const { repository, model, worker } = stack;
    model.script({ text, stall: 3 });
    model.respondWith({ text });
    const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
    await worker.startJob(id);
    await eventsUntil(id, ({ type }) => type === 'text');
    model.release();
    expect(await worker.ended(id)).toMatchObject({ status: 'completed' });
    const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    const told = events.filter(({ step }) => step === 1);
    const last = told.findLastIndex(({ type }) => type === 'step-start');
    expect(textOf(told.slice(last))).toBe('I look around and see.');
    expect(told.slice(0, last).filter(({ type }) => type === 'step-start').length).toBeGreaterThan(1);
  });

  it('contain no secret of the worker, however the model splits it', async () => {
    const key = 'model-key-0123456789';
    await using stack = await startJobStack({ database, files: { 'old.txt': `${key}\n` } });
    const { repository, model, worker } = stack;
    model.script(
      {
        text: [`The key is ${key.slice(0, 8)}`, key.slice(8, 14), `${key.slice(14)}.`],
        toolCalls: [
          { name: 'write', input: { path: 'k.txt', content: `ghp_0123456789abcdefghij ${key}` } },
          { name: 'delete', input: { path: 'old.txt' } },
        ],
        chunkDelayMs: 120,
      },
      { text: key },
    );
    const { id } = await worker.runJob({ prompt: 'Go', repository: repository.path });
    const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    expect(textOf(events)).toBe('The key is [redacted].[redacted]');
    expect(JSON.stringify(events)).not.toContain(key);
    expect(JSON.stringify(events)).not.toContain('ghp_0123456789');
    const { rows } = await database.pool.query('select patch from job_steps where job_id = $1 and step = 1', [id]);
    expect(rows[0].patch).toContain('-[redacted]');
    expect(rows[0].patch).not.toContain(key);
  });

  it('end with the failure, and late text of a cancelled call is dropped', async () => {
    await using repository = await createTestRepository();
    await using model = await startScriptedModelServer();
    model.script({ text: ['I begin', ' now'], stall: 2 });
    const worker = await startTestWorker({ database, modelUrl: model.baseUrl });
    const id = await worker.createJob({ prompt: 'Go', repository: repository.path });
    await worker.startJob(id);
    await eventsUntil(id, ({ type }) => type === 'text');
    await worker.client.workflow.getHandle(`agent-job/${id}`).cancel();
    expect(await worker.ended(id)).toMatchObject({ status: 'failed' });
    model.release();
    await worker[Symbol.asyncDispose](); // the call has ended, either way
    const { events } = await asOperator(database.pool).events(id, { after: 0, limit: 1_000 });
    expect(events.at(-1)).toMatchObject({ type: 'failure', data: { category: 'cancelled' } });
  });
});
