import { expect, it } from 'vitest';
import { isSilent, queueProblem } from '../../../../dashboard/jobs/no-worker.tsx';

const to = '2026-11-21T10:10:00.000Z';
const queue = { waiting: 3, oldestSeconds: 63, active: 4 };

it('says that no worker takes jobs from the queue, by the time of the server', () => {
  expect(queueProblem({ to, queue, workerSeenAt: '2026-11-21T10:09:55.000Z' })).toBeNull();
  expect(queueProblem({ to, queue, workerSeenAt: '2026-11-21T10:08:57.000Z' })).toBe(
    '3 jobs in the queue. The last worker reported 1 min 03 s ago.',
  );
  expect(queueProblem({ to, queue, workerSeenAt: null })).toContain('no worker has reported in the last 10 minutes');
});

it('calls a worker silent that has missed a few reports', () => {
  expect(isSilent(to, '2026-11-21T10:09:55.000Z')).toBe(false);
  expect(isSilent(to, '2026-11-21T10:08:57.000Z')).toBe(true);
});
