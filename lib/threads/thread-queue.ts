import { runInThread, type ThreadTask } from './run-in-thread.ts';
import { ThreadQueueError } from './fair-queue.ts';
import { createFairSemaphore } from './fair-semaphore.ts';

export interface ThreadQueueLimits {
  /** Largest number of concurrent threads. */
  atOnce: number;
  /** Largest number of waiting tasks; beyond it, one of the organization with the most is rejected. */
  waiting: number;
  /** Time limit from the call to the result. */
  deadlineMs: number;
  heapMb: number;
}

interface QueuedTask<Data> extends Pick<ThreadTask<Data>, 'script' | 'data'> {
  organizationId: string;
}

export type ThreadQueue = ReturnType<typeof createThreadQueue>;

/**
 * Moves large work off the event loop. Each task runs in its own thread, which ends with it. Organizations take
 * turns.
 */
export function createThreadQueue({ atOnce, waiting, deadlineMs, heapMb }: ThreadQueueLimits) {
  const semaphore = createFairSemaphore(atOnce, waiting);
  return {
    /** Runs a task of an organization as soon as its turn comes. Throws ThreadQueueError. */
    async run<Data, Answer>({ organizationId, ...task }: QueuedTask<Data>): Promise<Answer> {
      const signal = AbortSignal.timeout(deadlineMs);
      try {
        return await semaphore.run(
          () => runInThread({ ...task, signal, resourceLimits: { maxOldGenerationSizeMb: heapMb } }),
          organizationId,
        );
      } catch (error) {
        if (!signal.aborted) throw error;
        throw new ThreadQueueError('The task took too long.', { cause: error });
      }
    },
  };
}
