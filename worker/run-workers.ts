import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Logger } from 'pino';

export interface WorkerRunDeps {
  address: string;
  createWorkers(connection: NativeConnection): Promise<Worker[]>;
  log: Logger;
  /** Told of the workers that poll from now on; none while there is no engine. */
  onWorkers?(workers: readonly Worker[]): void;
  /** Asks for the end. */
  signal: AbortSignal;
}

const firstWaitMs = 250;
const longestWaitMs = 10_000;

/**
 * Keeps workers polling until the signal. An engine that is not up yet, or went away for longer than the SDK bears, is
 * waited for.
 */
export async function runWorkers({ address, createWorkers, log, onWorkers, signal }: WorkerRunDeps): Promise<void> {
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    try {
      await runOnce();
      waitMs = firstWaitMs;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error, waitMs }, 'not connected to Temporal; trying again');
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, longestWaitMs);
    }
  }

  async function runOnce(): Promise<void> {
    const connection = await NativeConnection.connect({ address });
    try {
      const workers = await createWorkers(connection);
      const runs = workers.map((worker) => worker.run());
      const stop = () => shutDown(workers);
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      // one that fails takes the others along, so that all begin anew
      for (const run of runs) run.catch(stop);
      onWorkers?.(workers);
      log.info('worker ready');
      try {
        await Promise.all(runs);
      } finally {
        await Promise.allSettled(runs);
        onWorkers?.([]);
        signal.removeEventListener('abort', stop);
      }
    } finally {
      await connection.close();
    }
  }
}

function shutDown(workers: Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
