/** Schedules a flush to run soon. */
export type ScheduleFlush = (flush: () => void) => void;

/** Batches the writes of all streams into one callback at the end of each event-loop turn. */
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
