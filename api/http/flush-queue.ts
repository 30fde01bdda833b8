/** Runs a flush soon. */
export type ScheduleFlush = (flush: () => void) => void;

/** Lets the streams of a process write together at the end of each turn of the event loop: one callback for all of them. */
export function createFlushQueue(): ScheduleFlush {
  let waiting: (() => void)[] = [];

  function run(): void {
    const flushes = waiting;
    waiting = [];
    for (const flush of flushes) flush();
  }

  return (flush) => {
    if (waiting.push(flush) === 1) setImmediate(run);
  };
}
