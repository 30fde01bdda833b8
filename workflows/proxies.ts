import { ActivityCancellationType, proxyActivities, workflowInfo } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import type { SiteActivities } from '../activities/sites/site-index.ts';
import type { WebhookActivities } from '../activities/webhooks/webhooks.ts';
import { siteActivityQueue, webhookActivityQueue } from './contract/messages.ts';

/**
 * Every activity may run twice. None but the index of a site has a number of attempts: a killed worker is an attempt too. What
 * may fail for good is counted by the activity itself, in the database. The waits grow slowly, for the work of workers that are killed one after
 * another.
 */
const retry = { initialInterval: '100ms', backoffCoefficient: 1.5, maximumInterval: '20s' } as const;

/**
 * A dead worker is noticed after this long. Beats come twice a second, so a live one may hold its event loop, or go without a
 * CPU, for one and a half.
 */
const heartbeatTimeout = '2s';

/** The code is loaded anew for each execution. */
const { taskQueue } = workflowInfo();

/** May take minutes: a first fetch of a large repository. */
export const { prepare } = proxyActivities<Activities>({ startToCloseTimeout: '20 minutes', heartbeatTimeout, retry });

/** A cancelled call is not waited for: an answer that it still stores changes nothing about how the turn ended. */
export const { callModel } = proxyActivities<Activities>({
  startToCloseTimeout: '12 minutes',
  heartbeatTimeout,
  retry,
  cancellationType: ActivityCancellationType.TRY_CANCEL,
});

export const { runTools } = proxyActivities<Activities>({ startToCloseTimeout: '10 minutes', heartbeatTimeout, retry });

/** A cancelled publish is waited for, so that what it did is known. */
export const { publish, keepWork } = proxyActivities<Activities>({
  startToCloseTimeout: '5 minutes',
  scheduleToCloseTimeout: '20 minutes',
  heartbeatTimeout,
  retry,
});

/** One short write; retried until the database is back. */
export const { recordOutcome } = proxyActivities<Activities>({ startToCloseTimeout: '10s', heartbeatTimeout, retry });

/** Short statements, one batch after another. */
export const { archiveIdleJobs } = proxyActivities<Activities>({
  startToCloseTimeout: '10 minutes',
  heartbeatTimeout,
  retry,
});

/**
 * Reads a whole site; a large one takes a minute. What never ends is told before the run itself times out. Pages that take
 * their worker along each time fail after minutes: the next request tries again.
 */
export const { buildSiteIndex } = proxyActivities<SiteActivities>({
  taskQueue: siteActivityQueue(taskQueue),
  startToCloseTimeout: '30 minutes',
  scheduleToCloseTimeout: '100 minutes',
  heartbeatTimeout,
  retry: { ...retry, maximumAttempts: 20 },
});

export const { readIndexRequest, requestIndex, recordIndexFailure } = proxyActivities<SiteActivities>({
  taskQueue: siteActivityQueue(taskQueue),
  startToCloseTimeout: '10s',
  heartbeatTimeout,
  retry,
});

/** A receiver has 15 seconds to answer. */
export const { sendWebhook } = proxyActivities<WebhookActivities>({
  taskQueue: webhookActivityQueue(taskQueue),
  startToCloseTimeout: '30s',
  heartbeatTimeout,
  retry,
});
