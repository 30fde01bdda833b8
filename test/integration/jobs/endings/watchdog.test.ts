import { pino } from 'pino';
import { expect, it } from 'vitest';
import { createOutboxStore } from '../../../../db/jobs/outbox.ts';
import { createIdleJobs } from '../../../../db/for-worker/idle-jobs.ts';
import { createWatchdog } from '../../../../worker/chores/watchdog.ts';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { startTestWorker, type TestWorker } from '../../../support/stack/worker.ts';
import { ofFile } from '../../../support/of-file.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const database = ofFile(createTestDatabase);

function createTestWatchdog({ client, deps }: TestWorker, more: { jobsAtOnce?: number } = {}) {
  const log = pino({ level: 'silent' });
  return createWatchdog({ idleJobs: createIdleJobs(database.pool), jobs: deps.jobs, client, log, idleMs: 0, ...more });
}

it('fails the jobs whose execution is gone, and no others', { tags: ['slow'] }, async () => {
  await using stack = await startJobStack({ database });
  const { repository, model, worker } = stack;
  model.respondWith({ text: 'later', stall: true });
  const watchdog = createTestWatchdog(worker);
  const outbox = createOutboxStore(database.pool);
  const job = { prompt: 'Go', repository: repository.path };
  const [waiting, lost, running, terminated] = [
    await worker.createJob(job),
    await worker.createJob(job),
    await worker.createJob(job),
    await worker.createJob(job),
  ];
  for (const id of [lost, running, terminated]) await outbox.remove({ jobId: id!, turn: 1 });
  await worker.startJob(running!);
  await worker.startJob(terminated!);
  await model.nextRequest();
  await model.nextRequest();
  await worker.client.workflow.getHandle(jobWorkflowId(terminated!, 1)).terminate('by hand');

  expect(await watchdog.check()).toBe(2);
  const states = await Promise.all([waiting, lost, running, terminated].map((id) => worker.deps.jobs.get(id!)));
  expect(states.map((row) => [row!.status, row!.failureCategory])).toEqual([
    ['active', null],
    ['failed', 'internal'],
    ['active', null],
    ['failed', 'internal'],
  ]);
  for (const at of [1, 3]) expect(states[at]!.message).toMatch(/^The turn's execution in Temporal is gone,/);
  expect(await watchdog.check()).toBe(0);
  await worker.client.workflow.getHandle(jobWorkflowId(running!, 1)).cancel();
  await worker.ended(running!);
});

it('distinguishes a run timeout from a termination', async () => {
  await using worker = await startTestWorker({ database });
  const watchdog = createTestWatchdog(worker);
  const id = await worker.createJob({ prompt: 'Go', repository: '/nowhere' });
  await createOutboxStore(database.pool).remove({ jobId: id, turn: 1 });
  // this queue is not polled, so the run ends by its timeout
  const handle = await worker.client.workflow.start('jobWorkflow', {
    workflowId: jobWorkflowId(id, 1),
    taskQueue: `${worker.taskQueue}-nobody`,
    workflowRunTimeout: '1s',
  });
  await handle.result().catch(() => undefined);
  expect(await watchdog.check()).toBe(1);
  expect(await worker.deps.jobs.get(id)).toMatchObject({
    status: 'failed',
    // the agent had no limit to reach, so a smaller task or a longer limit would not help
    failureCategory: 'internal',
    message: expect.stringMatching(/timed out before a worker could end it\. Check that workers run /),
  });
});

it('reaches every job in a round, however many precede it', async () => {
  await using stack = await startJobStack({ database });
  const { repository, model, worker } = stack;
  model.respondWith({ text: 'later', stall: true });
  const watchdog = createTestWatchdog(worker, { jobsAtOnce: 1 });
  const outbox = createOutboxStore(database.pool);
  const ids: string[] = [];
  for (let made = 0; made < 3; made += 1)
    ids.push(await worker.createJob({ prompt: 'Go', repository: repository.path }));
  for (const id of ids) await outbox.remove({ jobId: id, turn: 1 });
  const [running, ...lost] = ids.toSorted();
  await worker.startJob(running!);
  await model.nextRequest();
  expect(await watchdog.check()).toBe(2);
  const states = await Promise.all(lost.map((id) => worker.deps.jobs.get(id)));
  expect(states.map((row) => row!.status)).toEqual(['failed', 'failed']);
  expect((await worker.deps.jobs.get(running!))!.status).toBe('active');
  await worker.client.workflow.getHandle(jobWorkflowId(running!, 1)).cancel();
  await worker.ended(running!);
});
