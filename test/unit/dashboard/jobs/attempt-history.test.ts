import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { recordedAttempts } from '../../../../dashboard/jobs/timeline/attempt-history.ts';

const scheduled = (eventId: string, name: string) => ({
  eventId,
  activityTaskScheduledEventAttributes: { activityType: { name } },
});
const started = (scheduledEventId: string, more: object) => ({
  eventId: `1${scheduledEventId}`,
  activityTaskStartedEventAttributes: { scheduledEventId, identity: '7@vm', attempt: 1, ...more },
});
const timeout = { message: 'Encoded failure', timeoutFailureInfo: { timeoutType: 'TIMEOUT_TYPE_HEARTBEAT' } };

it('reads who worked on each step, and why the attempt before failed', () => {
  const events = [
    scheduled('5', 'prepare'),
    started('5', { attempt: 4 }),
    scheduled('8', 'runStep'),
    started('8', {}),
    scheduled('11', 'runStep'),
    started('11', { attempt: 2, identity: '8@vm', lastFailure: timeout }),
    scheduled('14', 'callModel'),
    started('14', { attempt: 3, lastFailure: { message: 'ECONNRESET' } }),
    scheduled('17', 'callModel'),
    started('17', { attempt: 2, lastFailure: { message: 'Encoded failure' } }),
  ];
  expect(recordedAttempts({ events })).toEqual([
    { attempt: 1, worker: '7@vm', problem: null },
    { attempt: 2, worker: '8@vm', problem: 'The worker stopped sending heartbeats.' },
    { attempt: 3, worker: '7@vm', problem: 'ECONNRESET' },
    { attempt: 2, worker: '7@vm', problem: null },
  ]);
  expect(recordedAttempts({})).toEqual([]);
});

it('reads a history that Temporal exported', async () => {
  const file = new URL('../../../replay/histories/follow-up.json', import.meta.url);
  const { history } = JSON.parse(await readFile(file, 'utf8'));
  const attempts = recordedAttempts(history);
  expect(attempts.length).toBeGreaterThan(0);
  for (const { attempt, worker } of attempts) expect([attempt, worker]).toEqual([1, 'test']);
});
