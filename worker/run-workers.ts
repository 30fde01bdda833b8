import { setTimeout as delay } from 'node:timers/promises';
import { NativeConnection, type Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { TemporalCredentialSource } from '../lib/temporal/temporal-credentials.ts';

export interface WorkerRunDeps {
  address: string;
  credentials: TemporalCredentialSource;
  /** Each makes a worker; one polls as soon as it is made, before the next is. */
  createWorker: ((connection: NativeConnection) => Promise<Worker>)[];
  log: Logger;
  /** Receives the workers that poll from now on; none while Temporal is away. */
  onWorkers?(workers: readonly Worker[]): void;
  /** Requests the end. */
  signal: AbortSignal;
}

const firstWaitMs = 250;
const maxWaitMs = 10_000;

/**
 * Keeps workers polling until the signal. Waits for Temporal when it is not up yet, or is away for longer than the SDK
 * tolerates.
 */
export async function runWorkers(deps: WorkerRunDeps): Promise<void> {
  const { address, credentials, createWorker, log, onWorkers, signal } = deps;
  const connect = () => NativeConnection.connect({ address, ...credentials.current() });
  let waitMs = firstWaitMs;
  while (!signal.aborted) {
    try {
      await runOnce();
      waitMs = firstWaitMs;
    } catch (error) {
      if (signal.aborted) return;
      log.warn({ err: error, waitMs }, 'not connected to Temporal; retrying');
      await delay(waitMs, undefined, { signal }).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, maxWaitMs);
    }
  }

  async function runOnce(): Promise<void> {
    let connection = await connect();
    let reconnecting = Promise.resolve();
    try {
      const workers: Worker[] = [];
      const reconnect = async () => {
        const previous = connection;
        connection = await connect();
        for (const worker of workers) worker.connection = connection;
        await previous.close();
        log.info('reconnected to Temporal with new credentials');
      };
      const onFailure = (error: unknown) =>
        log.warn({ err: error }, 'cannot connect to Temporal with the new credentials');
      using _changes = credentials.onChange(() => {
        reconnecting = reconnecting.then(reconnect).catch(onFailure);
      });
      const runs: Promise<void>[] = [];
      const stopping = new AbortController();
      const stop = () => {
        stopping.abort();
        shutDown(workers);
      };
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      try {
        for (const create of createWorker) {
          if (stopping.signal.aborted) break;
          const worker = await create(connection);
          const run = worker.run();
          // one that fails stops the others, so that all start again
          run.catch(stop);
          workers.push(worker);
          runs.push(run);
        }
        if (stopping.signal.aborted) {
          shutDown(workers);
        } else {
          onWorkers?.(workers);
          log.info('worker ready');
        }
        await Promise.all(runs);
      } finally {
        stop();
        await Promise.allSettled(runs);
        onWorkers?.([]);
        signal.removeEventListener('abort', stop);
      }
    } finally {
      await reconnecting;
      await connection.close();
    }
  }
}

function shutDown(workers: Worker[]): void {
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
}
