import type { DataConverter } from '@temporalio/common';
import { Worker, type NativeConnection } from '@temporalio/worker';
import { jobTaskQueue, siteTaskQueue, webhookTaskQueue } from '../workflows/contract/messages.ts';

export interface QueueWorker {
  taskQueue: string;
  activities: object;
  /** Git and models at once; the rest waits in the queue, where another worker may take it. */
  maxConcurrentActivities?: number;
}

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Path of the bundle, made with the same failure converter. */
  bundle: string;
  dataConverter?: DataConverter;
  /** One worker for each queue. */
  queues: QueueWorker[];
  /** How long running activities may go on after a shutdown was asked for. */
  shutdownGraceMs?: number;
}

/** The queue of jobs with its activities. */
export function jobQueue(activities: object, taskQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue, activities };
}

/** The queue of site indexing; a build takes a core, a fetch only waits, so a few at once. */
export function siteQueue(activities: object, taskQueue: string = siteTaskQueue): QueueWorker {
  return { taskQueue, activities, maxConcurrentActivities: 4 };
}

/** The queue of webhook deliveries, which only wait for others. */
export function webhookQueue(activities: object, taskQueue: string = webhookTaskQueue): QueueWorker {
  return { taskQueue, activities, maxConcurrentActivities: 50 };
}

/** Makes the workers of a process, one for each queue; none polls before `run`. */
export async function createWorkers(deps: WorkerDeps): Promise<Worker[]> {
  const { connection, namespace, bundle, dataConverter, queues, shutdownGraceMs = 25_000 } = deps;
  const workers: Worker[] = [];
  for (const { taskQueue, activities, maxConcurrentActivities = 20 } of queues) {
    const worker = await Worker.create({
      connection,
      namespace,
      taskQueue,
      activities,
      workflowBundle: { codePath: bundle },
      dataConverter,
      maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
      maxCachedWorkflows: 200,
      // a workflow whose worker was killed waits this long before another takes it
      stickyQueueScheduleToStartTimeout: '1s',
      // a cancel arrives with the answer to a heartbeat
      maxHeartbeatThrottleInterval: '1s',
      shutdownGraceTime: shutdownGraceMs,
      shutdownForceTime: shutdownGraceMs + 3_000,
    });
    workers.push(worker);
  }
  return workers;
}
