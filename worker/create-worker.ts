import type { DataConverter } from '@temporalio/common';
import {
  Worker,
  type ActivityInterceptorsFactory,
  type NativeConnection,
  type WorkerDeploymentOptions,
} from '@temporalio/worker';
import { shareSlots } from './share-slots.ts';
import {
  jobTaskQueue,
  siteActivityQueue,
  webhookActivityQueue,
  workerDeploymentName,
} from '../workflows/contract/messages.ts';

/** Time that activities have to end once they are cancelled at the end of the grace period. */
const forceAfterMs = 3_000;

export interface QueueWorker {
  taskQueue: string;
  activities: object;
  /** Slots; what finds none waits in the queue, where another worker may take it. An organization alone has half of them. */
  maxConcurrentActivities?: number;
  /** Also runs workflows. Only one worker per process does, because each needs a thread for them. */
  runsWorkflows?: boolean;
}

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Path of the workflow bundle, made with the same failure converter. */
  bundle: string;
  dataConverter?: DataConverter;
  queue: QueueWorker;
  /** Longest time that running activities may continue after a shutdown request. */
  shutdownGraceMs?: number;
  /** Names the workers' code; an execution then stays on the code it started on. Null or absent: not versioned. */
  buildId?: string | null;
  /** Wrap each attempt of an activity. */
  interceptors?: ActivityInterceptorsFactory[];
  /** Creates the worker; tests run workflows in their own thread. */
  workers?: Pick<typeof Worker, 'create'>;
}

/** Describes the queue of all workflows and the activities of jobs. */
export function jobQueue(activities: object, taskQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue, activities, runsWorkflows: true };
}

/** Describes the queue of the activities that index sites. Most of the time they wait for websites and forges. */
export function siteQueue(activities: object, workflowQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue: siteActivityQueue(workflowQueue), activities, maxConcurrentActivities: 20 };
}

/** Describes the queue of the activities that deliver webhooks, which only wait for receivers. */
export function webhookQueue(activities: object, workflowQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue: webhookActivityQueue(workflowQueue), activities, maxConcurrentActivities: 50 };
}

/** An execution ends on the code it started on, or moves to the current code where it continues as new. */
function versionOf(buildId: string): WorkerDeploymentOptions {
  const version = { deploymentName: workerDeploymentName, buildId };
  return { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' };
}

/** Creates the worker of one queue; it polls once `run` is called. */
export function createWorker(deps: WorkerDeps): Promise<Worker> {
  const {
    connection,
    namespace,
    bundle,
    dataConverter,
    queue,
    shutdownGraceMs = 20_000,
    buildId = null,
    interceptors = [],
    workers = Worker,
  } = deps;
  const { taskQueue, activities, maxConcurrentActivities = 40, runsWorkflows = false } = queue;
  return workers.create({
    connection,
    namespace,
    taskQueue,
    activities,
    ...(runsWorkflows ? { workflowBundle: { codePath: bundle }, maxCachedWorkflows: 600 } : {}),
    dataConverter,
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
    interceptors: { activity: [shareSlots(maxConcurrentActivities), ...interceptors] },
    // a workflow whose worker was killed waits this long before another takes it
    stickyQueueScheduleToStartTimeout: '500ms',
    // a cancellation arrives with the response to a heartbeat
    maxHeartbeatThrottleInterval: '500ms',
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + forceAfterMs,
    ...(buildId === null ? {} : { workerDeploymentOptions: versionOf(buildId) }),
  });
}
