import { Worker, type ResourceLimits } from 'node:worker_threads';
import { createFairQueue, ThreadQueueError } from './fair-queue.ts';

/** Response of a thread of a pool to a request. */
export type PoolAnswer<Result = unknown> = { result: Result } | { error: Error };

export interface ThreadPoolOptions {
  /** A module that answers each request with a `PoolAnswer`, in order. */
  script: URL;
  threads: number;
  /** Largest number of waiting requests; beyond it, one of the holder with the most is rejected. */
  waiting: number;
  /** Time limit from the call to the answer. A thread that exceeds it is replaced. */
  deadlineMs: number;
  /**
   * Number of requests to send to a busy thread before it has answered, so that it can continue while this thread is busy;
   * 0 if absent.
   */
  ahead?: number;
  resourceLimits: ResourceLimits;
}

interface Request {
  message: object;
  holder: string;
  /** Whether the caller has stopped waiting. */
  isAbandoned: boolean;
  resolve(result: unknown): void;
  reject(reason: unknown): void;
}

interface Thread {
  worker: Worker;
  /** Requests without an answer, in order. The thread works on the first. */
  sent: Request[];
}

/** Creates threads that stay, for requests too small for a thread of their own. They start when needed. */
export function createThreadPool({
  script,
  threads: maxThreads,
  waiting,
  deadlineMs,
  ahead = 0,
  resourceLimits,
}: ThreadPoolOptions) {
  const threads = new Set<Thread>();
  const queue = createFairQueue<Request>(waiting);

  function start(): Thread {
    const thread: Thread = { worker: new Worker(script, { resourceLimits }), sent: [] };
    threads.add(thread);
    thread.worker.unref();
    thread.worker.on('message', (answer: PoolAnswer) => {
      const request = thread.sent.shift();
      if ('error' in answer) request?.reject(answer.error);
      else request?.resolve(answer.result);
      dispatch();
    });
    const fail = (error: Error) => {
      threads.delete(thread);
      const [failed, ...others] = thread.sent;
      thread.sent = [];
      failed?.reject(error);
      for (const other of others) if (!other.isAbandoned) queue.add(other);
      dispatch();
    };
    thread.worker.on('error', fail);
    thread.worker.on('exit', () => fail(new Error('The thread exited without an answer.')));
    return thread;
  }

  /** Returns an idle or a new thread, else the one with the fewest requests; null when all have enough. */
  function nextThread(): Thread | null {
    const [idlest] = [...threads].sort((a, b) => a.sent.length - b.sent.length);
    if (threads.size < maxThreads && idlest?.sent.length !== 0) return start();
    return idlest !== undefined && idlest.sent.length <= ahead ? idlest : null;
  }

  function dispatch(): void {
    while (queue.size > 0) {
      const thread = nextThread();
      const request = thread === null ? undefined : queue.take();
      if (thread === null || request === undefined) return;
      thread.sent.push(request);
      thread.worker.postMessage(request.message);
    }
  }

  function abandon(request: Request): void {
    request.isAbandoned = true;
    queue.remove(request);
  }

  return {
    /**
     * Has a thread answer a request; each thread answers one at a time, and holders take turns. Throws ThreadQueueError
     * when too many are waiting, or when the answer takes too long.
     */
    async run<Result>(
      message: object,
      { signal, holder = '' }: { signal: AbortSignal; holder?: string },
    ): Promise<Result> {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<Result>();
      const request: Request = { message, holder, isAbandoned: false, resolve, reject };
      queue.add(request);
      dispatch();
      const onAbort = () => {
        abandon(request);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      const timer = setTimeout(() => {
        abandon(request);
        reject(new ThreadQueueError('The request took too long.'));
        for (const { worker, sent } of threads) if (sent[0] === request) void worker.terminate();
      }, deadlineMs);
      try {
        return await promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      }
    },
    /** Sends a message that has no answer to all threads. */
    tell(message: object): void {
      for (const { worker } of threads) worker.postMessage(message);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()));
    },
  };
}
