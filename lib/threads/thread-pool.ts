import { Worker, type ResourceLimits } from 'node:worker_threads';
import { ThreadQueueError } from './thread-queue.ts';

/** Response of a thread of a pool to a request. */
export type PoolAnswer<Result = unknown> = { result: Result } | { error: Error };

export interface ThreadPool extends AsyncDisposable {
  /**
   * Has a thread answer a request, one at a time per thread. Throws ThreadQueueError when too many are waiting, or when
   * the answer takes too long.
   */
  run<Result>(request: object, signal: AbortSignal): Promise<Result>;
  /** Sends a message that has no answer to all threads. */
  tell(message: object): void;
}

export interface ThreadPoolOptions {
  /** A module that answers each request with a `PoolAnswer`, in order. */
  script: URL;
  threads: number;
  /** Largest number of waiting requests; further ones are rejected. */
  waiting: number;
  /** Time limit from the call to the answer. A thread that exceeds it is replaced. */
  deadlineMs: number;
  resourceLimits: ResourceLimits;
}

interface Request {
  message: object;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

interface Thread {
  worker: Worker;
  current: Request | null;
}

/** Creates threads that stay, for requests too small for a thread of their own. They start when needed. */
export function createThreadPool({
  script,
  threads: most,
  waiting,
  deadlineMs,
  resourceLimits,
}: ThreadPoolOptions): ThreadPool {
  const threads = new Set<Thread>();
  const queue: Request[] = [];

  function start(): Thread {
    const thread: Thread = { worker: new Worker(script, { resourceLimits }), current: null };
    threads.add(thread);
    thread.worker.unref();
    thread.worker.on('message', (answer: PoolAnswer) => {
      const { current } = thread;
      thread.current = null;
      if ('error' in answer) current?.reject(answer.error);
      else current?.resolve(answer.result);
      dispatch();
    });
    const fail = (error: Error) => {
      threads.delete(thread);
      thread.current?.reject(error);
      thread.current = null;
      dispatch();
    };
    thread.worker.on('error', fail);
    thread.worker.on('exit', () => fail(new Error('The thread exited without an answer.')));
    return thread;
  }

  function dispatch(): void {
    while (queue.length > 0) {
      const free = [...threads].find(({ current }) => current === null) ?? (threads.size < most ? start() : null);
      if (free === null) return;
      free.current = queue.shift() ?? null;
      if (free.current !== null) free.worker.postMessage(free.current.message);
    }
  }

  function abandon(request: Request): void {
    const at = queue.indexOf(request);
    if (at !== -1) queue.splice(at, 1);
  }

  return {
    async run<Result>(message: object, signal: AbortSignal): Promise<Result> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const request: Request = { message, resolve, reject };
      queue.push(request);
      dispatch();
      if (queue.length > waiting) {
        abandon(request);
        throw new ThreadQueueError('Too many requests are waiting for a thread.');
      }
      const onAbort = () => {
        abandon(request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => {
        abandon(request);
        reject(new ThreadQueueError('The request took too long.'));
        for (const { worker, current } of threads) if (current === request) void worker.terminate();
      }, deadlineMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    tell(message) {
      for (const { worker } of threads) worker.postMessage(message);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
