import { createFairLine } from './fair-line.ts';

/** Runs some tasks at once; the others wait in a fair line. */
export function createTurns(atOnce: number, waiting = Infinity) {
  const line = createFairLine<PromiseWithResolvers<void> & { holder: string }>(waiting);
  let running = 0;

  function wait(holder: string): Promise<void> {
    const turn = { ...Promise.withResolvers<void>(), holder };
    line.add(turn);
    return turn.promise;
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
        const next = line.take();
        if (next === undefined) running -= 1;
        else next.resolve();
      }
    },
  };
}
