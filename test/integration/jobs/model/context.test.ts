import { describe, expect, it } from 'vitest';
import { createPriceBook, type PriceOverrides } from '../../../../models/prices.ts';
import { createWorkerPullRequestStore } from '../../../../db/for-worker/pull-requests.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import type { RecordedRequest } from '../../../support/servers/scripted-model-server.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import type { TestWorkerOptions } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

const files = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [`${index}.txt`, `${String(index).repeat(8)} `.repeat(400)]),
);

const startStack = (overrides: PriceOverrides = {}, change?: TestWorkerOptions['change']) =>
  startJobStack({
    database,
    files,
    prompt: 'Look after the files',
    change: (deps) => ({ prices: createPriceBook(overrides), ...change?.(deps) }),
  });

const read = (name: number | string) => ({ toolCalls: [{ name: 'read', input: { path: `${name}.txt` } }] });
const write = (name: string) => ({ toolCalls: [{ name: 'write', input: { path: name, content: `${name}\n` } }] });
const done = { text: 'Done.' };
const textOf = ({ body }: RecordedRequest) => JSON.stringify(body.messages);
const isSummary = ({ body }: RecordedRequest) =>
  JSON.stringify(body.messages[0]).includes('keep the notes of an agent');

describe('an agent that loops', () => {
  it('gets one note, and is then stopped with its work kept', async () => {
    await using stack = await startStack();
    stack.model.script(write('a.txt'));
    stack.model.respondWith(read('1'));
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'no_progress', steps: 6 });
    expect(job.message).toMatch(/^The agent was stopped because it was stuck in a loop, even after a warning/);
    expect(stack.model.requests).toHaveLength(6);
    expect(textOf(stack.model.requests[4]!)).not.toContain('Note of the service');
    expect(textOf(stack.model.requests[5]!)).toContain('You made the same call four times');
    expect(await createWorkerPullRequestStore(database.pool).get(job.prId!)).toMatchObject({ draft: true });
    await recordHistory('no-progress', stack.worker.client.workflow.getHandle(`agent-job/${job.id}`));
  });

  it('that follows the hint continues', async () => {
    await using stack = await startStack();
    stack.model.script(read('x'), read('x'), read('x'), write('a.txt'), done);
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', steps: 5 });
    expect(textOf(stack.model.requests[3]!)).toContain('failed with the same error');
  });

  it('again long after the hint gets another one', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    const loop = [read(1), read(1), read(1), read(1)];
    const others = Array.from({ length: 20 }, (_, index) => read(index + 2));
    stack.model.script(...loop, ...others, ...loop, done);
    const job = await stack.worker.runJob(stack.job, { maxSteps: 60 });
    expect(job).toMatchObject({ status: 'completed', steps: 29 });
    expect(textOf(stack.model.requests.at(-1)!).match(/You made the same call four times/g)).toHaveLength(2);
  });

  it('is warned and then stopped if its answers are cut off, too', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    stack.model.respondWith({ text: 'And so on', finishReason: 'length' });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'no_progress', steps: 4, prLink: null });
  });
});

describe('a turn that nears its step limit', () => {
  it('gets the note some steps before, in the same words at each further call', async () => {
    await using stack = await startStack();
    stack.model.script(read(1), read(2), read(3), write('a.txt'), done);
    await stack.worker.runJob(stack.job, { maxSteps: 7 });
    const notes = stack.model.requests.map((request) => textOf(request).match(/You have 5 answers left/g)?.length ?? 0);
    expect(notes).toEqual([0, 0, 1, 1, 1]);
  });
});

describe('a conversation that fills the window', () => {
  // 40 files of 3.6 KB: about ten fill 80% of it
  const small = { 'compatible/scripted': { input: 1, output: 1, window: 14_000 } };

  it('continues from notes of the model and the ledger, and pays for the notes once', async () => {
    await using stack = await startStack(small);
    let reads = 0;
    stack.model.respondWith((request) => {
      if (isSummary(request))
        return { text: 'The files hold digits.', usage: { inputTokens: 1_000, outputTokens: 10 } };
      reads += 1;
      if (reads === 1) return { toolCalls: [{ name: 'todo', input: { items: [{ text: 'Read all', done: false }] } }] };
      return reads <= 13 ? read(reads) : reads === 14 ? write('a.txt') : done;
    });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', steps: 15 });
    const summaries = stack.model.requests.filter(isSummary);
    expect(summaries).toHaveLength(1);
    const last = textOf(stack.model.requests.at(-1)!);
    for (const part of ['Look after the files', 'The files hold digits.', '- 2.txt (etag ', '[ ] Read all'])
      expect(last).toContain(part);
    for (const request of stack.model.requests) expect(textOf(request).length / 3.5).toBeLessThan(14_000);
    expect(stack.model.violations).toEqual([]);
    // the answers and the notes, at a millionth of a dollar per token
    expect(job).toMatchObject({ inputTokens: 15 * 100 + 1_000, costMicros: 15 * 120 + 1_010 });
  });

  it('reminds the agent again that no commands run, but tells people once', { tags: 'slow' }, async () => {
    const commands = { sandbox: null, problem: 'No sandbox.', maxSeconds: 1, directory: '' };
    await using stack = await startStack(small, () => ({ commands }));
    let reads = 0;
    stack.model.respondWith((request) =>
      isSummary(request) ? { text: 'Notes.' } : (reads += 1) < 20 ? read(reads) : done,
    );
    const id = await stack.worker.createJob(stack.job);
    await database.pool.query(
      `update projects set check_command = 'true' where id = (select project_id from jobs where id = $1)`,
      [id],
    );
    await stack.worker.startJob(id, { maxSteps: 40 });
    expect(await stack.worker.ended(id)).toMatchObject({ status: 'completed' });
    expect(stack.model.requests.filter(isSummary).length).toBeGreaterThan(0);
    expect(textOf(stack.model.requests.at(-1)!)).toContain('Commands are not available');
    const { events } = await asOperator(database.pool).events(id);
    expect(events.filter(({ type }) => type === 'notice')).toMatchObject([{ data: { text: 'No sandbox.' } }]);
  });

  it('counts the notes against the token limit', { tags: 'slow' }, async () => {
    await using stack = await startStack(small);
    let reads = 0;
    stack.model.respondWith((request) =>
      isSummary(request) ? { text: 'Notes.', usage: { inputTokens: 90_000, outputTokens: 10 } } : read((reads += 1)),
    );
    const job = await stack.worker.runJob(stack.job, { maxTokens: 50_000, maxSteps: 40 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'budget_limit' });
    expect(stack.model.requests.filter(isSummary)).toHaveLength(1);
    expect(stack.model.requests.findIndex(isSummary)).toBe(stack.model.requests.length - 2);
  });

  it('is not summarized again when the worker is lost after the notes were stored', { tags: 'slow' }, async () => {
    let isLost = false;
    await using stack = await startStack(small, ({ context }) => ({
      context: {
        ...context,
        async storeCompaction(compaction) {
          const stored = await context.storeCompaction(compaction);
          if (isLost) return stored;
          isLost = true;
          throw new Error('The worker is gone.');
        },
      },
    }));
    let reads = 0;
    stack.model.respondWith((request) => {
      if (isSummary(request)) return { text: 'Notes.' };
      reads += 1;
      return reads <= 12 ? read(reads) : done;
    });
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', steps: 13 });
    expect(isLost).toBe(true);
    expect(stack.model.requests.filter(isSummary)).toHaveLength(1);
    const { rows } = await database.pool.query('select count(*)::int as made from job_compactions where job_id = $1', [
      job.id,
    ]);
    expect(rows).toEqual([{ made: 1 }]);
  });

  it('repeatedly, without a change of files, ends the turn', { tags: 'slow' }, async () => {
    await using stack = await startStack(small);
    let reads = 0;
    stack.model.respondWith((request) => (isSummary(request) ? { text: 'Notes.' } : read((reads += 1) % 40)));
    const job = await stack.worker.runJob(stack.job, { maxSteps: 200 });
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'no_progress' });
    expect(job.message).toContain('4 times without changing a file');
    expect(stack.model.requests.filter(isSummary)).toHaveLength(3);

    // as the failure advises
    stack.model.respondWith((request) => (isSummary(request) ? { text: 'Notes.' } : done));
    expect(await stack.worker.followUp(job.id, 'Read nothing more')).toMatchObject({
      status: 'completed',
      message: 'Done.',
    });
  });
});

describe('a conversation of long texts', () => {
  const small = { 'compatible/scripted': { input: 1, output: 1, window: 14_000 } };

  it('quotes the task and the newest turn, and only the beginnings of earlier messages', { tags: 'slow' }, async () => {
    await using stack = await startStack(small);
    let reads = 0;
    stack.model.respondWith((request) => {
      if (isSummary(request)) return { text: 'Notes.' };
      reads += 1;
      return reads % 5 === 0 ? done : read(reads % 40);
    });
    const said = (name: string) => `begin-${name} ${'log line\n'.repeat(1_300)} end-${name}`;
    const { id } = await stack.worker.runJob(stack.job);
    for (const name of ['two', 'three', 'four', 'five', 'six'])
      expect(await stack.worker.followUp(id, said(name))).toMatchObject({ status: 'completed' });
    const last = textOf(stack.model.requests.at(-1)!);
    for (const part of ['Look after the files', 'begin-two', 'begin-six', 'end-six']) expect(last).toContain(part);
    expect(last).not.toContain('end-two');
    expect(stack.model.violations).toEqual([]);
  });

  it('keeps an approved plan in full, however often notes replace the rest', { tags: 'slow' }, async () => {
    await using stack = await startStack(small);
    const steps = Array.from({ length: 100 }, (_, index) => `${index + 1}. Change file ${index}.`).join('\n');
    stack.model.script(read(1), { toolCalls: [{ name: 'finish', input: { title: 'Change files', summary: steps } }] });
    const { id } = await stack.worker.runJob({ ...stack.job, planReview: true });
    const approved = await asOperator(database.pool).approve({ jobId: id, text: null });
    expect(approved.kind).toBe('decided');
    let reads = 0;
    stack.model.respondWith((request) => {
      if (isSummary(request)) return { text: 'Notes.' };
      reads += 1;
      if (reads % 5 === 0) return write(`${reads}.md`);
      return reads < 23 ? read(reads) : done;
    });
    await stack.worker.startJob(id, { maxSteps: 30 }, 2);
    expect(await stack.worker.ended(id, 2)).toMatchObject({ status: 'completed' });
    expect(stack.model.requests.filter(isSummary).length).toBeGreaterThan(1);
    expect(textOf(stack.model.requests.at(-1)!)).toContain('77. Change file 76.');
  });

  it('has the notes of the service for the agent in what is summarized', { tags: 'slow' }, async () => {
    await using stack = await startStack(small, () => ({ selfReview: true }));
    stack.model.script(write('a.txt'), { toolCalls: [{ name: 'finish', input: { title: 'Write', summary: 'A.' } }] });
    let reads = 0;
    stack.model.respondWith((request) => {
      if (isSummary(request)) return { text: 'Notes.' };
      reads += 1;
      return reads <= 12 ? read(reads) : done;
    });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed' });
    const [summary] = stack.model.requests.filter(isSummary);
    expect(textOf(summary!)).toContain('[service] Before your change is published, review it');
  });

  it('shows of the outputs of one answer what leaves room to go on', async () => {
    await using stack = await startStack(small);
    await stack.repository.commit({ 'a.txt': 'first line\n'.repeat(1_000), 'b.txt': 'other line\n'.repeat(1_000) });
    stack.model.respondWith(({ body }) => {
      if (body.tools === undefined) return { text: 'Notes.' };
      const isTold = JSON.stringify(body.messages).includes('read less at once');
      return isTold ? done : { toolCalls: [...read('a').toolCalls, ...read('b').toolCalls] };
    });
    expect(await stack.worker.runJob(stack.job)).toMatchObject({ status: 'completed', steps: 2 });
    const last = textOf(stack.model.requests.at(-1)!);
    expect(last).toContain('first line');
    expect(last).not.toContain('other line');
  });
});

describe('a provider that says the request is too long', () => {
  const tooLong = { status: 400, errorMessage: "This model's maximum context length is 8192 tokens." };

  it('gets one more request, with a shorter prompt', async () => {
    await using stack = await startStack();
    stack.model.script(read(1), read(2), read(3), tooLong, { text: 'Short notes.' }, done);
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'completed', message: 'Done.' });
    const [refused, , short] = stack.model.requests.slice(3);
    expect(textOf(short!)).toContain('Short notes.');
    expect(textOf(short!).length).toBeLessThan(textOf(refused!).length);
  });

  it('twice ends the turn as refused', { tags: 'slow' }, async () => {
    await using stack = await startStack();
    stack.model.script(read(1), read(2), tooLong, { text: 'Short notes.' }, tooLong);
    const job = await stack.worker.runJob(stack.job);
    expect(job).toMatchObject({ status: 'failed', failureCategory: 'model_refused' });
    expect(stack.model.requests).toHaveLength(5);
  });
});
