import { ActivityFailure, TimeoutFailure } from '@temporalio/workflow';
import { expect, it } from 'vitest';
import { outcomeOfFailure } from '../../../workflows/failure-outcome.ts';

const timedOut = (activityType: string) => {
  const timeout = new TimeoutFailure('activity ScheduleToClose timeout', undefined, 'SCHEDULE_TO_CLOSE');
  return new ActivityFailure('Activity task timed out', activityType, '1', 'TIMEOUT', undefined, timeout);
};

it('a publication that timed out is no refusal of the forge', () => {
  expect(outcomeOfFailure(timedOut('publish'), false)).toEqual({
    kind: 'failed',
    category: 'internal',
    message: expect.stringContaining('A follow-up message publishes it.'),
  });
  expect(outcomeOfFailure(timedOut('runStep'), false)).toMatchObject({
    category: 'internal',
    message: 'Something went wrong inside Docket.',
  });
});
