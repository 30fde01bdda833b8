import type { Client } from '@temporalio/client';
import type { ActivityInterceptorsFactory } from '@temporalio/worker';

const deadlineMs = 1_000;

/**
 * Before an attempt that may follow a lost one, tells Temporal to give the execution's next workflow task to any worker.
 * Otherwise the task is offered to the worker that has the execution in its cache, which is often the lost one, for
 * `stickyQueueScheduleToStartTimeout` first. If that worker is alive, a replay of the history was unnecessary.
 */
export function leaveLostWorker({ workflowService, connection, options }: Client): ActivityInterceptorsFactory {
  const { namespace } = options;
  return ({ info }) => ({
    inbound: {
      async execute(input, next) {
        const waitedMs = info.currentAttemptScheduledTimestampMs - info.scheduledTimestampMs;
        if (info.attempt > 1 && waitedMs >= (info.heartbeatTimeoutMs ?? Number.POSITIVE_INFINITY)) {
          const reset = () => workflowService.resetStickyTaskQueue({ namespace, execution: info.workflowExecution });
          // without it the execution only waits
          await connection.withDeadline(Date.now() + deadlineMs, reset).catch(() => undefined);
        }
        return next(input);
      },
    },
  });
}
