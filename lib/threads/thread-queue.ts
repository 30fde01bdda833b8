import { runInThread, type ThreadTask } from './run-in-thread.ts';
import { createTurns } from './turns.ts';

/** A task was rejected or stopped: too many were waiting, or it took too long. */
export class ThreadQueueError extends Error {
  override name = 'ThreadQueueError';
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

export type ThreadQueue = ReturnType<typeof createThreadQueue>;

/** Moves large work off the event loop. Each task runs in a thread of its own, which ends with it. */
export function createThreadQueue({ atOnce, waiting, deadlineMs, heapMb }: ThreadQueueLimits) {
  const turns = createTurns(atOnce);
  return {
    /** Runs a task as soon as its turn comes. Throws ThreadQueueError. */
    async run<Data, Answer>(task: Pick<ThreadTask<Data>, 'script' | 'data'>): Promise<Answer> {
      const signal = AbortSignal.timeout(deadlineMs);
      if (turns.waiting >= waiting) throw new ThreadQueueError('Too many tasks are waiting for a thread.');
      try {
        return await turns.run(() =>
          runInThread({ ...task, signal, resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
        );
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new ThreadQueueError('The task took too long.', { cause: error });
      }
    },
  };
}
