import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { prepareWorkflowBundle } from '../../worker/workflow-bundle.ts';
import { FailureType } from '../../workflows/contract/failures.ts';
import { readHistories } from '../support/database/histories.ts';

Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF' } } });

const histories = await readHistories();
const workflowBundle = { codePath: await prepareWorkflowBundle() };

const names = new Set(histories.map(({ name }) => name));

it.each([
  'published',
  'no-changes',
  'message',
  'message-at-the-end',
  'follow-up',
  'follow-up-no-changes',
  'follow-up-after-failed',
  'follow-up-after-closed',
  'follow-up-after-merged',
  'forked',
  'cancelled-by-person',
  'cancelled-in-prepare',
  'cancelled-in-run-step',
  'cancelled-in-publish',
  'step-limit-kept',
  'time-limit-kept',
  'model-refused-kept',
  'continuing',
  'continued',
  'idle-jobs-archived',
  'waiting',
  'self-review',
  'self-review-limit',
  'self-review-refused',
])('a history exists of a job’s path: %s', (name) => {
  expect(names).toContain(name);
});

/** Ends of jobs that wait for a person, whose execution has ended before. */
const ofWaits: FailureType[] = [FailureType.PlanRejected, FailureType.WaitExpired];

it.each(Object.values(FailureType).filter((type) => !ofWaits.includes(type)))(
  'a history exists of an execution that ends with %s',
  (category) => {
    const name = category.replaceAll('_', '-');
    expect(names.has(name) || names.has(`failed-${name}`)).toBe(true);
  },
);

it.each(histories)('$name replays with today’s workflow code', async ({ workflowId, history }) => {
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
});

it('a history that the code would not have produced is refused', async () => {
  const { workflowId, history } = histories.find(({ name }) => name === 'published')!;
  const changed = JSON.parse(JSON.stringify(history).replaceAll('"runStep"', '"walkStep"')) as unknown;
  await expect(Worker.runReplayHistory({ workflowBundle }, changed, workflowId)).rejects.toThrow(/determinis/i);
});
