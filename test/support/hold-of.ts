import { setTimeout as delay } from 'node:timers/promises';
import { watchEventLoop } from '../../lib/threads/watch-event-loop.ts';

/** The shortest of the longest holds of three runs, in ms of CPU: a collection of garbage may come into one of them. */
export async function holdOf(work: () => Promise<unknown>): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3 && least > 0; run += 1) {
    await delay(20);
    let longest = 0;
    {
      using _ = watchEventLoop({ heldMs: 50, onHeld: ({ cpuMs }) => (longest = Math.max(longest, cpuMs)) });
      await work();
      await delay(20);
    }
    least = Math.min(least, longest);
  }
  return least;
}
