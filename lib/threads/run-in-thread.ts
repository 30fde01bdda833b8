import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';

export interface ThreadTask<Data> {
  /** A module that answers its `workerData` with one message. */
  script: URL;
  data: Data;
  /** Handed over instead of copied: this thread can no longer read them. */
  transfer?: Transferable[];
  resourceLimits?: ResourceLimits;
  /** An abort ends the thread and rejects with its reason. */
  signal: AbortSignal;
}

/** Runs a pure function on data of any size in a thread of its own, so that the event loop of this one goes on. */
export async function runInThread<Data, Answer>(task: ThreadTask<Data>): Promise<Answer> {
  const { script, data: workerData, transfer: transferList, resourceLimits, signal } = task;
  signal.throwIfAborted();
  const thread = new Worker(script, { workerData, transferList, resourceLimits });
  const stop = () => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await new Promise<Answer>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('The thread exited without a result.')));
    });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}
