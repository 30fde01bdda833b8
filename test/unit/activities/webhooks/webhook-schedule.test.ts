import { describe, expect, it } from 'vitest';
import { waitBeforeRetry, webhookWaitsMs } from '../../../../activities/webhooks/webhook-schedule.ts';

const hourMs = 3_600_000;
const wait = (change: Partial<Parameters<typeof waitBeforeRetry>[0]>) =>
  waitBeforeRetry({ tries: 1, retryAfter: null, chance: 0, nowMs: Date.UTC(2026, 0, 1), ...change });

describe('waitBeforeRetry', () => {
  it('makes ten attempts over three days, with increasing delays', () => {
    const waits = webhookWaitsMs.map((_, index) => wait({ tries: index + 1 }));
    expect(waits).toEqual(waits.toSorted((left, right) => left! - right!));
    expect(waits).toHaveLength(9);
    expect(wait({ tries: 10 })).toBeNull();
    const total = waits.reduce<number>((sum, each) => sum + each!, 0);
    expect(total).toBeGreaterThanOrEqual(72 * hourMs);
    expect(total).toBeLessThan(84 * hourMs);
  });

  it('adds jitter of up to a fifth', () => {
    expect(wait({ chance: 0 })).toBe(5_000);
    expect(wait({ chance: 1 })).toBe(6_000);
  });

  it('waits as long as the receiver asks for, up to a day', () => {
    expect(wait({ retryAfter: '120' })).toBe(120_000);
    expect(wait({ retryAfter: '120', chance: 1 })).toBe(144_000);
    expect(wait({ retryAfter: '1' })).toBe(5_000);
    expect(wait({ retryAfter: 'Thu, 01 Jan 2026 00:10:00 GMT' })).toBe(600_000);
    expect(wait({ retryAfter: '999999999' })).toBe(24 * hourMs);
  });

  it.each(['', 'soon', '-5', '1.5', 'Thu, 01 Jan 1970 00:00:00 GMT'])('keeps its own delay with %j', (retryAfter) =>
    expect(wait({ tries: 2, retryAfter })).toBe(5 * 60_000),
  );

  it('never waits less than a second', () => {
    expect(Math.min(...webhookWaitsMs)).toBeGreaterThanOrEqual(1_000);
  });
});
