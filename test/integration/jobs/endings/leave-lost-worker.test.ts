import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { NativeConnection } from '@temporalio/worker';
import { expect, inject, it } from 'vitest';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { leaveLostWorker } from '../../../../worker/leave-lost-worker.ts';
import { prepareWorkflowBundle } from '../../../../worker/workflow-bundle.ts';
import { archiveJobsWorkflowName } from '../../../../workflows/contract/messages.ts';
import { quietRuntime, testWorkers } from '../../../support/stack/worker.ts';

// temporal.api.enums.v1.TaskQueueKind
const normal = 1;
const sticky = 2;

it.each([
  { lost: 0, queue: sticky },
  { lost: 1, queue: normal },
])('after $lost lost attempts of an activity, queue $queue gets the workflow task', async ({ lost, queue }) => {
  quietRuntime();
  const address = inject('temporalAddress');
  await using resources = new AsyncDisposableStack();
  const connection = await Connection.connect({ address });
  resources.defer(() => connection.close());
  const native = await NativeConnection.connect({ address });
  resources.defer(() => native.close());
  const client = new Client({ connection });
  const taskQueue = `test-${randomUUID()}`;
  let attempts = 0;
  const ended = Promise.withResolvers<void>();
  /** Its first attempts send no heartbeat, so Temporal takes them for lost. */
  const archiveIdleJobs = async () => {
    if (++attempts <= lost) await ended.promise;
    return 3;
  };
  const worker = await createWorker({
    connection: native,
    namespace: 'default',
    bundle: await prepareWorkflowBundle(),
    queue: jobQueue({ archiveIdleJobs }, taskQueue),
    shutdownGraceMs: 0,
    interceptors: [leaveLostWorker(client)],
    workers: testWorkers,
  });
  await worker.runUntil(async () => {
    const handle = await client.workflow.start(archiveJobsWorkflowName, { workflowId: taskQueue, taskQueue });
    await handle.result().finally(ended.resolve);
    const { events } = await handle.fetchHistory();
    const tasks = events?.flatMap(({ workflowTaskScheduledEventAttributes: task }) => (task ? [task] : []));
    expect(tasks?.map(({ taskQueue: one }) => one?.kind)).toEqual([normal, queue]);
  });
  expect(attempts).toBe(lost + 1);
});
