import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SiteActivities } from '../activities/sites/site-index.ts';
import type { WebhookActivities } from '../activities/webhooks/webhooks.ts';
import type { ModelCall, StepResult } from './contract/job.ts';
import { siteActivityQueue, webhookActivityQueue } from './contract/messages.ts';

/**
 * Every activity is idempotent because it may run twice. None limits its attempts, because Temporal also counts those of
 * killed workers and those that found no slot; activities count their own in the database. The backoff slows down work
 * that kills its worker. A few lost attempts may be bad luck, so it grows slowly: it exceeds one second after 14
 * attempts, and the heartbeat timeout after 18.
 */
const retry = { initialInterval: '100ms', backoffCoefficient: 1.2, maximumInterval: '20s' } as const;

/**
 * Time without a heartbeat after which a worker counts as dead. Heartbeats are sent twice a second, so a live worker
 * may block its event loop or go without CPU for 1.5 seconds.
 */
const heartbeatTimeout = '2s';

/** Activities that end a turn go before waiting steps, because they are short and must end in time. */
const priority = { priorityKey: 1 } as const;

/** Workflow code is loaded for each execution, so this is the task queue of the current one. */
const { taskQueue } = workflowInfo();

/**
 * May take minutes: the first fetch of a large repository is slow, and a setup takes up to 18 minutes, with up to 5 each to
 * unpack, pack and unpack again what it installs.
 */
export const { prepare } = proxyActivities<Activities>({ startToCloseTimeout: '45 minutes', heartbeatTimeout, retry });

/**
 * The time of a model call and of the tools it asks for. A cancelled step is awaited, so that nothing works in the
 * working copy when the turn is published.
 */
export const { runStep } = proxyActivities<Activities>({ startToCloseTimeout: '22 minutes', heartbeatTimeout, retry });

/** A cancelled call is not awaited: an answer that it still stores does not affect how the turn ended. */
const { callModel } = proxyActivities<Activities>({
  startToCloseTimeout: '12 minutes',
  heartbeatTimeout,
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

const { runTools } = proxyActivities<Activities>({ startToCloseTimeout: '10 minutes', heartbeatTimeout, retry });

/** Runs a step as two activities, as executions do that began before `runStep`. */
export async function runStepInTwo(call: ModelCall): Promise<StepResult> {
  const answer = await callModel(call);
  if (answer.toolCallCount === 0) return answer;
  const { jobId, turn, step, lastBefore } = call;
  return { ...answer, tools: await runTools({ jobId, turn, step, lastBefore }) };
}

/** A cancelled publish is awaited so that its effects are known. */
export const { publish, keepWork } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '20 minutes',
  heartbeatTimeout,
  retry,
  priority,
});

/** A single short write, retried until the database is back. */
export const { recordOutcome } = proxyActivities<Activities>({
  startToCloseTimeout: '10s',
  heartbeatTimeout,
  retry,
  priority,
});

/** Runs short statements in batches. */
export const { archiveIdleJobs } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  retry,
});

/**
 * Reads a whole site, which takes about a minute for a large one. A hung build fails before the workflow run times out.
 */
export const { buildSiteIndex } = proxyActivities<SiteActivities>({
  taskQueue: siteActivityQueue(taskQueue),
  startToCloseTimeout: '30 minutes',
  scheduleToCloseTimeout: '100 minutes',
  heartbeatTimeout,
  retry,
});

export const { readIndexRequest, requestIndex, recordIndexFailure } = proxyActivities<SiteActivities>({
  taskQueue: siteActivityQueue(taskQueue),
  startToCloseTimeout: '10s',
  heartbeatTimeout,
  retry,
});

/** A receiver has 15 seconds to respond. */
export const { sendWebhook } = proxyActivities<WebhookActivities>({
  taskQueue: webhookActivityQueue(taskQueue),
  startToCloseTimeout: '30s',
  heartbeatTimeout,
  retry,
});
