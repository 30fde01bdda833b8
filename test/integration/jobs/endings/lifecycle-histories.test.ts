import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { ApplicationFailure, Context } from '@temporalio/activity';
import { NativeConnection } from '@temporalio/worker';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import type { Activities } from '../../../../activities/index.ts';
import { createWorker, jobQueue } from '../../../../worker/create-worker.ts';
import { prepareWorkflowBundle } from '../../../../worker/workflow-bundle.ts';
import { FailureType } from '../../../../workflows/contract/failures.ts';
import type { JobLimits, JobOutcome, ToolStep } from '../../../../workflows/contract/job.ts';
import { archiveJobsWorkflowName, jobWorkflowId, jobWorkflowName } from '../../../../workflows/contract/messages.ts';
import { recordHistory } from '../../../support/database/histories.ts';
import { quietRuntime, testWorkers } from '../../../support/stack/worker.ts';

let client: Client;
let native: NativeConnection;
let bundle: string;
beforeAll(async () => {
  quietRuntime();
  const address = inject('temporalAddress');
  client = new Client({ connection: await Connection.connect({ address }) });
  native = await NativeConnection.connect({ address });
  bundle = await prepareWorkflowBundle();
});
afterAll(async () => {
  await client.connection.close();
  await native.close();
});

const limits: JobLimits = { maxSteps: 10, maxTokens: 1_000, maxDurationMs: 120_000 };
const published: JobOutcome = { kind: 'published', prLink: 'http://docket.test/pulls/pr_1' };

const stepThat = (tools: ToolStep) => ({
  toolCallCount: 1,
  finishReason: 'tool-calls',
  usage: { inputTokens: 10, outputTokens: 10 },
  tools,
});

/** One step that writes, then the end. */
function straightOn(): Partial<Activities> & Pick<Activities, 'recordOutcome'> {
  return {
    prepare: () => Promise.resolve(undefined),
    runStep: ({ step }) => Promise.resolve(stepThat({ finished: step >= 2, changedFiles: 1 })),
    publish: () => Promise.resolve(published),
    keepWork: ({ message }) => Promise.resolve({ message }),
    recordOutcome: () => Promise.resolve(false),
    archiveIdleJobs: () => Promise.resolve(3),
  };
}

interface Run {
  activities: Partial<Activities>;
  turn?: number;
  limits?: Partial<JobLimits>;
  /** Cancels once this activity has started. */
  cancelledIn?: 'prepare' | 'runStep' | 'publish';
}

/** Runs a turn on its own queue, stores its history, and returns the last recorded outcome. */
async function runTurn(name: string, { activities, turn = 1, cancelledIn, ...run }: Run): Promise<JobOutcome | null> {
  const taskQueue = `test-${randomUUID()}`;
  let recorded: JobOutcome | null = null;
  const base = straightOn();
  const begun = Promise.withResolvers<void>();
  const hang = async (): Promise<never> => {
    begun.resolve();
    const { cancelled, heartbeat } = Context.current();
    const beats = setInterval(heartbeat, 200);
    return cancelled.finally(() => clearInterval(beats));
  };
  const all: Partial<Activities> = {
    ...base,
    ...activities,
    ...(cancelledIn === undefined ? {} : { [cancelledIn]: hang }),
    recordOutcome(ref) {
      recorded = ref.outcome;
      return activities.recordOutcome?.(ref) ?? base.recordOutcome(ref);
    },
  };
  const queue = jobQueue(all, taskQueue);
  const worker = await createWorker({
    connection: native,
    namespace: 'default',
    bundle,
    queue,
    shutdownGraceMs: 0,
    workers: testWorkers,
  });
  await worker.runUntil(async () => {
    const jobId = `job_${randomUUID()}`;
    const handle = await client.workflow.start(jobWorkflowName, {
      workflowId: jobWorkflowId(jobId, turn),
      taskQueue,
      args: [{ jobId, turn, limits: { ...limits, ...run.limits } }],
    });
    if (cancelledIn !== undefined) await begun.promise.then(() => handle.cancel());
    await handle.result().catch(() => undefined);
    await recordHistory(name, handle);
  });
  return recorded;
}

function failing(category: FailureType) {
  return () => Promise.reject(ApplicationFailure.nonRetryable('It failed.', category));
}

async function expectFailure(category: FailureType, activity: keyof Activities): Promise<void> {
  const outcome = await runTurn(`failed-${category.replaceAll('_', '-')}`, {
    activities: { [activity]: failing(category) },
  });
  expect(outcome).toMatchObject({ kind: 'failed', category });
}

it.each([
  [FailureType.RefNotFound, 'prepare'],
  [FailureType.ToolFailure, 'runStep'],
  [FailureType.PushRejected, 'publish'],
] as const)('a turn that fails with %s in %s records it', expectFailure);
it.each([
  [FailureType.RepositoryUnreachable, 'prepare'],
  [FailureType.AuthenticationRefused, 'prepare'],
  [FailureType.ModelUnavailable, 'runStep'],
  [FailureType.Superseded, 'runStep'],
  [FailureType.NoProgress, 'runStep'],
  [FailureType.Internal, 'runStep'],
] as const)('a turn that fails with %s in %s records it', { tags: 'slow' }, expectFailure);

it('a turn that has used its tokens records the limit', async () => {
  const outcome = await runTurn('budget-limit', {
    activities: { runStep: () => Promise.resolve(stepThat({ finished: false, changedFiles: 0 })) },
    limits: { maxTokens: 15 },
  });
  expect(outcome).toMatchObject({ kind: 'failed', category: FailureType.BudgetLimit });
});

async function expectCancellation(cancelledIn: NonNullable<Run['cancelledIn']>): Promise<void> {
  const name = `cancelled-in-${cancelledIn.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const outcome = await runTurn(name, { activities: {}, cancelledIn });
  expect(outcome).toMatchObject({ kind: 'failed', category: FailureType.Cancelled });
}

it.each(['runStep'] as const)('a turn that is cancelled in %s records that', expectCancellation);
it.each(['prepare', 'publish'] as const)(
  'a turn that is cancelled in %s records that',
  { tags: 'slow' },
  expectCancellation,
);

it('a turn that receives a message while it publishes continues, and publishes again', async () => {
  let records = 0;
  const recordOutcome = () => Promise.resolve((records += 1) === 1);
  expect(await runTurn('message-at-the-end', { activities: { recordOutcome } })).toEqual(published);
  expect(records).toBe(2);
});

it('a follow-up that changes nothing records that', async () => {
  const publish = () => Promise.resolve<JobOutcome>({ kind: 'no-changes' });
  expect(await runTurn('follow-up-no-changes', { activities: { publish }, turn: 2 })).toEqual({ kind: 'no-changes' });
});

it('the run of the daily schedule archives the idle jobs', async () => {
  const taskQueue = `test-${randomUUID()}`;
  const queue = jobQueue(straightOn(), taskQueue);
  const worker = await createWorker({
    connection: native,
    namespace: 'default',
    bundle,
    queue,
    shutdownGraceMs: 0,
    workers: testWorkers,
  });
  await worker.runUntil(async () => {
    const handle = await client.workflow.start(archiveJobsWorkflowName, {
      workflowId: `archive-jobs-${randomUUID()}`,
      taskQueue,
      args: [{ idleDays: 30 }],
    });
    expect(await handle.result()).toBe(3);
    await recordHistory('idle-jobs-archived', handle);
  });
});
