import { setTimeout as delay } from 'node:timers/promises';

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** Longer than what the tests count takes on a busy machine. */
const neededMs = 20_000;

/**
 * Waits for the next minute, hour or day (UTC) unless this one has 20 seconds left: refused keys are counted by the minute,
 * turns by the hour and costs by the day, and the next one begins with none.
 */
export async function untilEarlyIn(unit: keyof typeof unitMs): Promise<void> {
  const leftMs = unitMs[unit] - (Date.now() % unitMs[unit]);
  if (leftMs < neededMs) await delay(leftMs + 50);
}
