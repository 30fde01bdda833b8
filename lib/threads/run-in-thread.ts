import { setImmediate as nextTurn } from 'node:timers/promises';
import { Worker, type ResourceLimits, type Transferable } from 'node:worker_threads';

/** A message to a thread. */
export interface ThreadChunk {
  message: unknown;
  /** Transferred instead of copied: this thread can no longer read them. */
  transfer: Transferable[];
}

export interface ThreadTask<Data> {
  /** A module that answers its `workerData` with one message. */
  script: URL;
  data: Data;
  /** Parts of `data` that are transferred to the thread, such as a port. */
  transfer?: Transferable[];
  /** Sent after `data`, one per turn of the event loop: copying everything at once would block it. */
  chunks?: Iterable<ThreadChunk>;
  resourceLimits?: ResourceLimits;
  /** An abort ends the thread and rejects with the signal's reason. */
  signal: AbortSignal;
}

/** Runs a pure function on data of any size in a separate thread, so that this thread's event loop is not blocked. */
export async function runInThread<Data, Answer>(task: ThreadTask<Data>): Promise<Answer> {
  const { script, data: workerData, transfer: transferList, chunks = [], resourceLimits, signal } = task;
  signal.throwIfAborted();
  const thread = new Worker(script, { workerData, transferList, resourceLimits });
  const stop = () => void thread.terminate();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const answer = new Promise<Answer>((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
      thread.once('exit', () => reject(new Error('The thread exited without a result.')));
    });
    const [result] = await Promise.all([answer, sendChunks(thread, chunks, signal)]);
    return result;
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
    await thread.terminate();
  }
}

async function sendChunks(thread: Worker, chunks: Iterable<ThreadChunk>, signal: AbortSignal): Promise<void> {
  for (const { message, transfer } of chunks) {
    thread.postMessage(message, transfer);
    await nextTurn(undefined, { signal });
  }
}
