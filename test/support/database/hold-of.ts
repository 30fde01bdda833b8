import { setTimeout as delay } from 'node:timers/promises';
import { watchEventLoop } from '../../../lib/threads/watch-event-loop.ts';

/**
 * Returns the longest block of the event loop, in ms of CPU: the minimum of three runs, because a garbage collection
 * may slow one down.
 */
export async function holdOf(work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3 && least > 0; run += 1) {
    await delay(20);
    let longest = 0;
    {
      using _ = watchEventLoop({ blockedMs: 50, onBlocked: ({ cpuMs }) => (longest = Math.max(longest, cpuMs)) });
      await work();
      await delay(20);
    }
    least = Math.min(least, longest);
  }
  return least;
}
