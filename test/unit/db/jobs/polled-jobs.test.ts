import type { Pool } from 'pg';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { JobRow } from '../../../../db/jobs/jobs.ts';
import { createPolledJobs } from '../../../../db/jobs/polled-jobs.ts';
import { wakeWatchers } from '../../../../db/jobs/wake-watchers.ts';

const [owner, project, id] = [{ organizationId: 'org_1' }, 'prj_1', 'job_1'] as const;

/** The polled jobs of a table with one job, which has been polled once. */
async function polledOnce() {
  const table = { steps: 0, reads: 0, whileReading: () => {} };
  const listeners = new Set<(jobId: string | null) => void>();
  const pool = { query: async () => ({ rows: [] }) } as unknown as Pool;
  const jobs = createPolledJobs({
    pool,
    wakeups: {
      onAnyChange(changed) {
        listeners.add(changed);
        return { [Symbol.dispose]: () => void listeners.delete(changed) };
      },
    },
    async find({ organizationId }, projectId, jobId) {
      table.reads += 1;
      const { steps } = table;
      table.whileReading();
      const isStored = organizationId === owner.organizationId && projectId === project && jobId === id;
      return isStored ? ({ id, organizationId, projectId, steps } as JobRow) : null;
    },
  });
  const notify = (jobId: string | null) => listeners.forEach((changed) => changed(jobId));
  const stepsSeen = async () => (await jobs.find(owner, project, id))?.steps;
  expect(await stepsSeen()).toBe(0);
  return { table, pool, jobs, notify, stepsSeen };
}

afterEach(() => void vi.useRealTimers());

it('reads a job that does not change once', async () => {
  const { table, stepsSeen } = await polledOnce();
  for (const steps of await Promise.all([stepsSeen(), stepsSeen(), stepsSeen()])) expect(steps).toBe(0);
  expect(table.reads).toBe(1);
});

it('shows a row to its owner only', async () => {
  const { jobs } = await polledOnce();
  expect(await jobs.find({ organizationId: 'org_2' }, project, id)).toBeNull();
  expect(await jobs.find(owner, project, id)).not.toBeNull();
  expect(await jobs.find(owner, 'prj_2', id)).toBeNull();
});

describe('a change is seen', () => {
  it.each(['job_1', null])('after the notice of %s', async (noticed) => {
    const { table, notify, stepsSeen } = await polledOnce();
    table.steps = 1;
    notify(noticed);
    expect(await stepsSeen()).toBe(1);
  });

  it('at once when this process made it', async () => {
    const { table, pool, stepsSeen } = await polledOnce();
    table.steps = 1;
    wakeWatchers(pool, id);
    expect(await stepsSeen()).toBe(1);
  });

  it('when its notice arrived while the row was read', async () => {
    const { table, jobs, notify, stepsSeen } = await polledOnce();
    table.whileReading = () => {
      table.steps += 1;
      notify(id);
    };
    await jobs.check();
    table.whileReading = () => {};
    expect(await stepsSeen()).toBe(1);
  });

  it('at the next check when its notice was lost, for each job polled since the last one', async () => {
    const { table, jobs, stepsSeen } = await polledOnce();
    table.steps = 1;
    await jobs.check();
    expect(await stepsSeen()).toBe(1);
    await jobs.check();
    await jobs.check();
    expect(table.reads).toBe(3);
  });

  it('after two seconds when nothing checks', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const { table, stepsSeen } = await polledOnce();
    table.steps = 1;
    vi.advanceTimersByTime(1_999);
    expect(await stepsSeen()).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await stepsSeen()).toBe(1);
  });
});
