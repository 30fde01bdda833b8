import { performance } from 'node:perf_hooks';

/** Runs a flush soon. */
export type ScheduleFlush = (flush: () => void) => void;

/** While the event loop is busy, what is written within so long leaves together. */
const mergeMs = 15;
const lookMs = 100;
/** Shares of the time in which the event loop works: from the one on it counts as busy, below the other no longer. */
const busyFrom = 0.6;
const idleBelow = 0.3;

/**
 * Lets the streams of a process write together: in each turn of the event loop, or, when it is busy, once in a while, so that
 * more deltas share a write, which is what they cost most.
 */
export function createFlushQueue(): ScheduleFlush {
  let waiting: (() => void)[] = [];
  let isBusy = false;
  let looked = performance.eventLoopUtilization();
  let lookedAt = performance.now();

  function look(): void {
    const now = performance.now();
    if (now - lookedAt < lookMs) return;
    const current = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(current, looked);
    isBusy = utilization > (isBusy ? idleBelow : busyFrom);
    looked = current;
    lookedAt = now;
  }

  function run(): void {
    const flushes = waiting;
    waiting = [];
    for (const flush of flushes) flush();
  }

  return (flush) => {
    waiting.push(flush);
    if (waiting.length > 1) return;
    look();
    if (isBusy) setTimeout(run, mergeMs);
    else setImmediate(run);
  };
}
