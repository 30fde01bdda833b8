import { runInThread, type ThreadTask } from './run-in-thread.ts';

/** A task was refused or stopped: there are too many of them, or it took too long. */
export class ThreadQueueError extends Error {
  override name = 'ThreadQueueError';
}

export interface ThreadQueue {
  /** Runs a task as soon as it is its turn. Throws ThreadQueueError. */
  run<Data, Answer>(task: Pick<ThreadTask<Data>, 'script' | 'data'>): Promise<Answer>;
}

export interface ThreadQueueLimits {
  /** Threads at the same time. */
  atOnce: number;
  /** Tasks that wait; further ones are refused. */
  waiting: number;
  /** From the call to the answer. */
  deadlineMs: number;
  heapMb: number;
}

/** Takes large work from the event loop of a process: threads that are begun when there is something to do, and end with it. */
export function createThreadQueue({ atOnce, waiting, deadlineMs, heapMb }: ThreadQueueLimits): ThreadQueue {
  const turns: (() => void)[] = [];
  let running = 0;

  async function turn(): Promise<void> {
    if (running < atOnce) {
      running += 1;
      return;
    }
    if (turns.length >= waiting) throw new ThreadQueueError('Too many tasks are waiting for a thread.');
    // whoever ends hands over
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
