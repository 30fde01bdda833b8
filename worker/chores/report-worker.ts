import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { WorkerStore } from '../../db/for-worker/workers.ts';
import { repeat } from '../../lib/repeat.ts';

const everyMs = 5_000;

/** Reports every few seconds that this process is alive and how busy it is, and withdraws the report at the end. */
export function reportWorker({
  workers,
  polling,
  version,
  log,
}: {
  workers: WorkerStore;
  /** The workers that are polling now. */
  polling: () => readonly Worker[];
  version: string;
  log: Logger;
}): AsyncDisposable {
  const self = { id: randomUUID(), host: hostname(), pid: process.pid, version, startedAt: new Date() };

  async function report(): Promise<void> {
    // a process without a polling worker does no work
    if (polling().length === 0) return;
    await workers.report({ ...self, activeTasks: polling().reduce((sum, worker) => sum + activeTasksOf(worker), 0) });
  }

  const chore = repeat({ name: 'report of this worker', everyMs, retryMs: 2_000, work: report, log });
  return {
    async [Symbol.asyncDispose]() {
      await chore[Symbol.asyncDispose]();
      await workers.remove(self.id).catch(() => undefined);
    },
  };
}

function activeTasksOf(worker: Worker): number {
  const { numInFlightActivities, numInFlightWorkflowActivations } = worker.getStatus();
  return numInFlightActivities + numInFlightWorkflowActivations;
}
