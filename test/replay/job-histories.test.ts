import { DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { expect, it } from 'vitest';
import { prepareWorkflowBundle } from '../../worker/workflow-bundle.ts';
import { readHistories } from '../support/histories.ts';

Runtime.install({ logger: new DefaultLogger('ERROR'), telemetryOptions: { logging: { filter: 'OFF' } } });

const histories = await readHistories();
const workflowBundle = { codePath: await prepareWorkflowBundle() };

it('there is a history of each way a job ends', () => {
  const names = histories.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'cancelled',
      'cancelled-by-person',
      'continued',
      'follow-up',
      'message',
      'model-refused',
      'no-changes',
      'published',
      'step-limit',
      'time-limit',
    ]),
  );
});

it.each(histories)('$name replays on today’s workflow code', async ({ workflowId, history }) => {
  await Worker.runReplayHistory({ workflowBundle }, history, workflowId);
});

it('a history that the code would not have made is refused', async () => {
  const { workflowId, history } = histories.find(({ name }) => name === 'published')!;
  const changed = JSON.parse(JSON.stringify(history).replaceAll('"runTools"', '"walkTools"')) as unknown;
  await expect(Worker.runReplayHistory({ workflowBundle }, changed, workflowId)).rejects.toThrow(/determinis/i);
});
