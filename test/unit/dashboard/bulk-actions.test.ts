import { expect, it, vi } from 'vitest';
import type { ListedJob } from '../../../dashboard/http/types.ts';

vi.stubGlobal('location', { origin: 'http://127.0.0.1' });
const { actOnAll, archiveAction, cancelAction, retryAction } =
  await import('../../../dashboard/jobs/list/bulk-actions.ts');

const job = (id: string, change: object = {}) => ({ id, status: 'completed', details: {}, ...change }) as ListedJob;

it('acts on every job, at most four at once, and collects each failure with its job', async () => {
  const jobs = Array.from({ length: 10 }, (_, number) => job(`job_${number}`));
  let running = 0;
  let most = 0;
  const outcome = await actOnAll(jobs, async ({ id }) => {
    running += 1;
    most = Math.max(most, running);
    await Promise.resolve();
    running -= 1;
    if (id === 'job_3' || id === 'job_7') throw new Error(`No ${id}.`);
  });
  expect(outcome).toEqual({
    done: 8,
    failures: [
      { job: jobs[3], message: 'No job_3.' },
      { job: jobs[7], message: 'No job_7.' },
    ],
  });
  expect(most).toBe(4);
});

it('applies each action to the jobs that accept it', () => {
  const jobs = [
    job('active', { status: 'active', details: { phase: 'queued' } }),
    job('completed'),
    job('failed', { status: 'failed', details: { failure: { category: 'internal' } } }),
    job('cancelled', { status: 'failed', details: { failure: { category: 'cancelled' } } }),
    job('archived', { status: 'archived' }),
  ];
  const idsOf = ({ appliesTo }: typeof retryAction) => jobs.filter(appliesTo).map(({ id }) => id);
  expect(idsOf(cancelAction)).toEqual(['active']);
  expect(idsOf(archiveAction)).toEqual(['completed', 'failed', 'cancelled']);
  expect(idsOf(retryAction)).toEqual(['failed', 'cancelled']);
});
