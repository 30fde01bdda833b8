import { expect, it } from 'vitest';
import { createJobStarter } from '../../../../api/jobs/job-starter.ts';
import { createOutboxStore } from '../../../../db/jobs/outbox.ts';
import { jobWorkflowId } from '../../../../workflows/contract/messages.ts';
import { createTestDatabase } from '../../../support/database/database.ts';
import { startJobStack } from '../../../support/stack/job-stack.ts';

const limits = { maxSteps: 5, maxTokens: 100_000, maxDurationMs: 120_000 };
const finishing = { toolCalls: [{ name: 'finish', input: { title: 'Nothing', summary: 'Looked at it.' } }] };

it('runs a job of one organization while long calls of another would take every slot', { tags: 'slow' }, async () => {
  await using database = await createTestDatabase();
  const released = Promise.withResolvers<void>();
  let held = 0;
  await using stack = await startJobStack({ database, maxConcurrentActivities: 4 });
  const { repository, model, worker } = stack;
  model.respondWith(async ({ body }) => {
    if (!JSON.stringify(body.messages).includes('Take long')) return finishing;
    held += 1;
    await released.promise;
    return finishing;
  });
  const outbox = createOutboxStore(database.pool);
  const startJob = createJobStarter({ client: worker.client, limits, taskQueue: worker.taskQueue });
  const startWritten = async () => {
    for (const entry of await outbox.claimDue({ limit: 50, leaseMs: 60_000 })) await startJob(entry);
  };

  const [first, ...others] = await Promise.all(
    Array.from({ length: 6 }, () => worker.createJob({ prompt: 'Take long.', repository: repository.path })),
  );
  await database.pool.query(
    `update jobs set (organization_id, project_id) = (select organization_id, project_id from jobs where id = $1)`,
    [first],
  );
  await startWritten();
  await expect.poll(() => held).toBe(2);

  const quick = await worker.createJob({ prompt: 'Be quick.', repository: repository.path });
  await startWritten();
  expect(await worker.ended(quick)).toMatchObject({ status: 'completed' });
  const { events } = await worker.client.workflow.getHandle(jobWorkflowId(quick, 1)).fetchHistory();
  const scheduled = events?.flatMap(({ activityTaskScheduledEventAttributes: activity }) => activity ?? []) ?? [];
  const ahead = scheduled.filter(({ priority }) => priority?.priorityKey === 1);
  expect(ahead.map(({ activityType }) => activityType?.name)).toEqual(['publish', 'recordOutcome']);
  // one organization gets at most half of the worker's slots
  expect(held).toBe(2);

  released.resolve();
  for (const id of [first!, ...others]) expect(await worker.ended(id)).toMatchObject({ status: 'completed' });
});
