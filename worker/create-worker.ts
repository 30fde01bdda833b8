import type { DataConverter, VersioningBehavior } from '@temporalio/common';
import {
  Worker,
  type ActivityInterceptorsFactory,
  type NativeConnection,
  type WorkerDeploymentOptions,
} from '@temporalio/worker';
import { shareSlots } from './share-slots.ts';
import { jobTaskQueue, siteTaskQueue, webhookTaskQueue, workerDeploymentName } from '../workflows/contract/messages.ts';

/** How long activities that are told to end at the end of the grace may take for it. */
const forceAfterMs = 3_000;

export interface QueueWorker {
  taskQueue: string;
  activities: object;
  /** Slots; what finds none waits in the queue, where another worker may take it. An organization alone has half of them. */
  maxConcurrentActivities?: number;
  /** Pinned, unless told otherwise: an execution ends on the code it began on, or hands on where it continues as new. */
  versioning?: VersioningBehavior;
}

export interface WorkerDeps {
  connection: NativeConnection;
  namespace: string;
  /** Path of the bundle, made with the same failure converter. */
  bundle: string;
  dataConverter?: DataConverter;
  queue: QueueWorker;
  /** How long running activities may go on after a shutdown was asked for. */
  shutdownGraceMs?: number;
  /** Names the code of the workers; an execution then stays with the code it began on. Null or absent: not versioned. */
  buildId?: string | null;
  /** Stand around each attempt of an activity. */
  interceptors?: ActivityInterceptorsFactory[];
  /** What makes the worker; absent: one with a thread of its own. */
  workers?: Pick<typeof Worker, 'create'>;
}

/** The queue of jobs with its activities. */
export function jobQueue(activities: object, taskQueue: string = jobTaskQueue): QueueWorker {
  return { taskQueue, activities };
}

/** The queue of site indexing; a build takes a core, a fetch only waits, so a few at once. */
export function siteQueue(activities: object, taskQueue: string = siteTaskQueue): QueueWorker {
  return { taskQueue, activities, maxConcurrentActivities: 4 };
}

/** The queue of webhook deliveries, which only wait for others; one may take days, which no version of the code should have to live for. */
export function webhookQueue(activities: object, taskQueue: string = webhookTaskQueue): QueueWorker {
  return { taskQueue, activities, maxConcurrentActivities: 50, versioning: 'AUTO_UPGRADE' };
}

function versionOf(buildId: string, defaultVersioningBehavior: VersioningBehavior): WorkerDeploymentOptions {
  const version = { deploymentName: workerDeploymentName, buildId };
  return { useWorkerVersioning: true, version, defaultVersioningBehavior };
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
  const { taskQueue, activities, maxConcurrentActivities = 40, versioning = 'PINNED' } = queue;
  return workers.create({
    connection,
    namespace,
    taskQueue,
    activities,
    workflowBundle: { codePath: bundle },
    dataConverter,
    maxConcurrentActivityTaskExecutions: maxConcurrentActivities,
    maxCachedWorkflows: 200,
    interceptors: { activity: [shareSlots(maxConcurrentActivities), ...interceptors] },
    // a workflow whose worker was killed waits this long before another takes it
    stickyQueueScheduleToStartTimeout: '500ms',
    // a cancel arrives with the answer to a heartbeat
    maxHeartbeatThrottleInterval: '500ms',
    shutdownGraceTime: shutdownGraceMs,
    shutdownForceTime: shutdownGraceMs + forceAfterMs,
    ...(buildId === null ? {} : { workerDeploymentOptions: versionOf(buildId, versioning) }),
  });
}
