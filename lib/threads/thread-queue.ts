import { runInThread, type ThreadTask } from './run-in-thread.ts';

/** A task was rejected or stopped: too many were waiting, or it took too long. */
export class ThreadQueueError extends Error {
  override name = 'ThreadQueueError';
}

export interface ThreadQueue {
  /** Runs a task as soon as its turn comes. Throws ThreadQueueError. */
  run<Data, Answer>(task: Pick<ThreadTask<Data>, 'script' | 'data'>): Promise<Answer>;
}

export interface ThreadQueueLimits {
  /** Largest number of concurrent threads. */
  atOnce: number;
  /** Largest number of waiting tasks; further ones are rejected. */
  waiting: number;
  /** Time limit from the call to the result. */
  deadlineMs: number;
  heapMb: number;
}

/** Moves large work off the event loop. Each task runs in a thread of its own, which ends with it. */
export function createThreadQueue({ atOnce, waiting, deadlineMs, heapMb }: ThreadQueueLimits): ThreadQueue {
  const turns: (() => void)[] = [];
  let running = 0;

  async function turn(): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (turns.length >= waiting) throw new ThreadQueueError('Too many tasks are waiting for a thread.');
    // a task that ends passes its place to the next one
    await new Promise<void>((resolve) => turns.push(resolve));
  }

  function next(): void {
    const begin = turns.shift();
    if (begin === undefined) running -= 1;
    else begin();
  }

  return {
    async run(task) {
      const signal = AbortSignal.timeout(deadlineMs);
      await turn();
      try {
        return await runInThread({ ...task, signal, resourceLimits: { maxOldGenerationSizeMb: heapMb } });
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new ThreadQueueError('The task took too long.', { cause: error });
      } finally {
        next();
      }
    },
  };
}
