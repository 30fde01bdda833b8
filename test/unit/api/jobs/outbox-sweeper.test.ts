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
  it('starts what is due and removes it once the start is confirmed', async () => {
    const confirmed = Promise.withResolvers<void>();
    const { sweeper, removed } = stage(entriesOf(1), () => confirmed.promise);
    sweeper.wake();
    await new Promise((resolve) => setImmediate(resolve));
    expect(removed).toEqual([]);
    confirmed.resolve();
    await vi.waitFor(() => expect(removed).toEqual(['job_0']), 30_000);
    await sweeper[Symbol.asyncDispose]();
  });

  it('keeps an entry whose start failed', async () => {
    const { sweeper, removed } = stage(entriesOf(2), async ({ jobId }) => {
      if (jobId === 'job_0') throw new Error('Temporal away');
    });
    sweeper.wake();
    await vi.waitFor(() => expect(removed).toEqual(['job_1']), 30_000);
    await sweeper[Symbol.asyncDispose]();
    expect(removed).toEqual(['job_1']);
  });

  it('works through more than one batch', async () => {
    const { sweeper, removed } = stage(entriesOf(180), async () => undefined);
    await vi.waitFor(() => {
      sweeper.wake();
      expect(removed).toHaveLength(180);
    }, 30_000);
    await sweeper[Symbol.asyncDispose]();
  });

  it('claims at a tick only if something may be due', async () => {
    const answers = [async () => false, () => Promise.reject(new Error('The database is down.')), async () => false];
    const claimedAfter: number[] = [];
    let looks = 0;
    await using _ = createOutboxSweeper({
      outbox: {
        async claimDue() {
          claimedAfter.push(looks);
          return [];
        },
        remove: async () => undefined,
      },
      startJob: async () => undefined,
      isDue: () => (answers[looks++] ?? (async () => false))(),
      log,
      intervalMs: 1,
    });
    await vi.waitFor(() => expect(looks).toBeGreaterThan(3), 30_000);
    expect(claimedAfter).toEqual([2]);
  });

  it('ends after the starts in flight, and claims no more', async () => {
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

  it('ends after the starts of what it was still claiming', async () => {
    const [claimed, confirmed] = [Promise.withResolvers<DueEntry[]>(), Promise.withResolvers<void>()];
    const removed: string[] = [];
    const sweeper = createOutboxSweeper({
      outbox: { claimDue: () => claimed.promise, remove: async ({ jobId }) => void removed.push(jobId) },
      startJob: () => confirmed.promise,
      log,
      intervalMs: 3_600_000,
    });
    sweeper.wake();
    const ended = sweeper[Symbol.asyncDispose]().then(() => removed.push('ended'));
    claimed.resolve(entriesOf(1));
    await new Promise((resolve) => setImmediate(resolve));
    confirmed.resolve();
    await ended;
    expect(removed).toEqual(['job_0', 'ended']);
  });
});
