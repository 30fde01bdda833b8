import { createFairQueue } from './fair-queue.ts';

/** Limits how many tasks run at once; the others wait in a fair queue. */
export function createFairSemaphore(atOnce: number, waiting = Infinity) {
  const queue = createFairQueue<PromiseWithResolvers<void> & { holder: string }>(waiting);
  let running = 0;

  function wait(holder: string): Promise<void> {
    const waiter = { ...Promise.withResolvers<void>(), holder };
    queue.add(waiter);
    return waiter.promise;
  }

  return {
    /** Runs a task of a holder in its turn. Throws ThreadQueueError when too many are waiting. */
    async run<Result>(task: () => Promise<Result>, holder = ''): Promise<Result> {
      if (running < atOnce) running += 1;
      // a task that ends passes its place to the next one
      else await wait(holder);
      try {
        return await task();
      } finally {
        const next = queue.take();
        if (next === undefined) running -= 1;
        else next.resolve();
      }
    },
  };
}
