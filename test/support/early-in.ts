import { setTimeout as delay } from 'node:timers/promises';

const unitMs = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** Longer than the counted part of a test takes on a busy machine. */
const neededMs = 20_000;

/**
 * Waits for the next minute, hour or day (UTC) unless the current one lasts 20 more seconds: refused keys are counted
 * per minute, turns per hour and costs per day, so a test must not cross into the next period.
 */
export async function untilEarlyIn(unit: keyof typeof unitMs): Promise<void> {
  const leftMs = unitMs[unit] - (Date.now() % unitMs[unit]);
  if (leftMs < neededMs) await delay(leftMs + 50);
}
