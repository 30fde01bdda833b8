import { pino } from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { createOutboxSweeper } from '../../../../api/jobs/outbox-sweeper.ts';
import type { DueEntry } from '../../../../db/jobs/outbox.ts';

const log = pino({ level: 'silent' });

function stage(entries: DueEntry[], startJob: (entry: DueEntry) => Promise<void>) {
  const due = [...entries];
  const removed: string[] = [];
  const sweeper = createOutboxSweeper({
    outbox: {
      claimDue: async ({ limit }) => due.splice(0, limit),
      remove: async ({ jobId }) => {
        removed.push(jobId);
      },
    },
    startJob,
    log,
    intervalMs: 3_600_000,
  });
  return { sweeper, removed, due };
}

function entriesOf(count: number): DueEntry[] {
  return Array.from({ length: count }, (_, index) => ({ jobId: `job_${index}`, turn: 1, organizationId: 'org_one' }));
}

describe('createOutboxSweeper', () => {
  it('starts what is due and removes it after the start is confirmed', async () => {
    const confirmed = Promise.withResolvers<void>();
    const { sweeper, removed } = stage(entriesOf(1), () => confirmed.promise);
    sweeper.wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(removed).toEqual([]);
    confirmed.resolve();
    await vi.waitFor(() => expect(removed).toEqual(['job_0']));
    await sweeper[Symbol.asyncDispose]();
  });

  it('keeps an entry whose start failed', async () => {
    const { sweeper, removed } = stage(entriesOf(2), async ({ jobId }) => {
      if (jobId === 'job_0') throw new Error('Temporal away');
    });
    sweeper.wake();
    await vi.waitFor(() => expect(removed).toEqual(['job_1']));
    await sweeper[Symbol.asyncDispose]();
    expect(removed).toEqual(['job_1']);
  });

  it('works through more than fits at once', async () => {
    const { sweeper, removed } = stage(entriesOf(180), async () => undefined);
    await vi.waitFor(() => {
      sweeper.wake();
      expect(removed).toHaveLength(180);
    });
    await sweeper[Symbol.asyncDispose]();
  });

  it('ends after the starts that are under way, and takes no more', async () => {
    const confirmed = Promise.withResolvers<void>();
    const { sweeper, removed, due } = stage(entriesOf(1), () => confirmed.promise);
    sweeper.wake();
    await new Promise((resolve) => setImmediate(resolve));
    const ended = sweeper[Symbol.asyncDispose]();
    due.push({ jobId: 'job_late', turn: 1, organizationId: 'org_one' });
    sweeper.wake();
    confirmed.resolve();
    await ended;
    expect(removed).toEqual(['job_0']);
  });
});
