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

/** How long activities that are told to end at the end of the grace may take for it. */
const forceAfterMs = 3_000;

export interface QueueWorker {
  taskQueue: string;
  activities: object;
  /** Slots; what finds none waits in the queue, where another worker may take it. An organization alone has half of them. */
  maxConcurrentActivities?: number;
  /** Runs the workflows, too. One worker of a process does: each has a thread for them. */
  runsWorkflows?: boolean;
}

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Path of the workflow bundle, made with the same failure converter. */
  bundle: string;
  dataConverter?: DataConverter;
  queue: QueueWorker;
  /** How long running activities may go on after a shutdown was asked for. */
  shutdownGraceMs?: number;
  /** Names the code of the workers; an execution then stays with the code it began on. Null or absent: not versioned. */
  buildId?: string | null;
  /** Stand around each attempt of an activity. */
  interceptors?: ActivityInterceptorsFactory[];
  /** Creates the worker; tests run workflows in their own thread. */
  workers?: Pick<typeof Worker, 'create'>;
}

/** All workflows, and the activities of jobs. */
export function jobQueue(activities: object, taskQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue, activities, runsWorkflows: true };
}

/** The activities that index sites; a build takes a core, a fetch only waits, so a few at once. */
export function siteQueue(activities: object, workflowQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue: siteActivityQueue(workflowQueue), activities, maxConcurrentActivities: 4 };
}

/** The activities that deliver webhooks, which only wait for receivers. */
export function webhookQueue(activities: object, workflowQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue: webhookActivityQueue(workflowQueue), activities, maxConcurrentActivities: 50 };
}

/** An execution ends on the code it began on, or moves to the current one where it continues as new. */
function versionOf(buildId: string): WorkerDeploymentOptions {
  const version = { deploymentName: workerDeploymentName, buildId };
  return { useWorkerVersioning: true, version, defaultVersioningBehavior: 'PINNED' };
}

/** Makes the worker of one queue; it polls from `run` on. */
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
    // a cancel arrives with the answer to a heartbeat
    maxHeartbeatThrottleInterval: '500ms',
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + forceAfterMs,
    ...(buildId === null ? {} : { workerDeploymentOptions: versionOf(buildId) }),
  });
}
