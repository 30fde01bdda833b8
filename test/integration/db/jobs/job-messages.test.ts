import { expect, it } from 'vitest';
import { createWorkerMessageStore } from '../../../../db/for-worker/job-messages.ts';
import { createWorkerJobStore } from '../../../../db/for-worker/jobs.ts';
import { createStepStore } from '../../../../db/for-worker/steps.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { seedJob } from '../seed.ts';
import { asOperator } from '../../../support/stack/operator.ts';
import { ofFile } from '../../../support/of-file.ts';

const database = ofFile(createTestDatabase);

const answer = {
  model: 'offline/editor',
  requestHash: 'h',
  response: { content: [], text: 'Done.', toolCalls: [] },
  finishReason: 'stop',
  usage: { inputTokens: 1, outputTokens: 1 },
  costMicros: 0,
};

it('an answer that does not know a message its step has received is not stored', async () => {
  const ref = { ...(await seedJob(database.pool)), step: 1 };
  const [messages, steps, jobs] = [
    createWorkerMessageStore(database.pool),
    createStepStore(database.pool),
    createWorkerJobStore(database.pool),
  ];
  await steps.claim(ref); // this attempt starts its call before the message arrives
  await asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'Wait', idempotency: null });
  await steps.claim(ref);
  await messages.take(ref);
  expect(await jobs.get(ref.jobId)).toMatchObject({ waitingMessages: 0 });
  expect(await steps.storeResponse({ ...ref, ...answer, knownMessages: 0 })).toBeNull();
  expect(await steps.storeResponse({ ...ref, ...answer, knownMessages: 1 })).not.toBeNull();
  await asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'Too late for this step', idempotency: null });
  await messages.take(ref);
  expect(await jobs.prompts(ref.jobId, 1)).toMatchObject([{ step: 0 }, { step: 1 }, { step: null }]);
});

it('a job does not complete while a message waits, but it can fail', async () => {
  const ref = await seedJob(database.pool);
  const jobs = createWorkerJobStore(database.pool);
  await asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'Wait', idempotency: null });
  expect(await jobs.finish({ ...ref, status: 'completed', failureCategory: null })).toBe(false);
  expect(await jobs.finish({ ...ref, status: 'failed', failureCategory: 'internal' })).toBe(true);
});

it('a turn that continued with a message is not completed with its earlier result', async () => {
  const { pool } = database;
  const ref = await seedJob(pool);
  const [messages, steps, jobs] = [createWorkerMessageStore(pool), createStepStore(pool), createWorkerJobStore(pool)];
  const completedAfter = (step: number) => jobs.finish({ ...ref, step, status: 'completed', failureCategory: null });
  await steps.claim({ ...ref, step: 1 });
  await asOperator(pool).send({ jobId: ref.jobId, prompt: 'And that', idempotency: null });
  await steps.claim({ ...ref, step: 2 });
  await messages.take({ ...ref, step: 2 });
  expect(await completedAfter(1)).toBe(false);
  expect(await completedAfter(2)).toBe(true);
});

it('a turn that continued with a message ignores a late summary and pull request', async () => {
  const jobs = createWorkerJobStore(database.pool);
  const ref = await seedJob(database.pool);
  const summary = { title: 'T', message: 'Done.', incomplete: null };
  const pullRequest = {
    prId: 'p',
    prLink: 'l',
    prState: 'open',
    prDraft: false,
    prText: { title: 't', body: '' },
    check: null,
  } as const;
  const published = { branch: 'b', headCommit: 'c', headTree: 't', ...pullRequest };
  const steps = createStepStore(database.pool);
  await steps.claim({ ...ref, step: 2 });
  for (const [step, isNewest] of [
    [1, false],
    [2, true],
  ] as const) {
    expect(await jobs.setSummary({ ...ref, step, ...summary })).toBe(isNewest);
    expect(await jobs.setPublished({ ...ref, step, ...published })).toBe(isNewest);
  }
});

it('a message that arrives as its turn ends joins the turn or starts a new one', async () => {
  const jobs = createWorkerJobStore(database.pool);
  for (let round = 0; round < 20; round += 1) {
    const ref = await seedJob(database.pool);
    const [sent, isFinished] = await Promise.all([
      asOperator(database.pool).send({ jobId: ref.jobId, prompt: 'Now', idempotency: null }),
      jobs.finish({ ...ref, status: 'completed', failureCategory: null }),
    ]);
    expect(sent.kind).toBe(isFinished ? 'began' : 'joined');
    expect(await jobs.get(ref.jobId)).toMatchObject({ status: 'active', waitingMessages: isFinished ? 0 : 1 });
  }
});
