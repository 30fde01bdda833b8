import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { StartableDelivery, WebhookStarts } from '../../db/for-worker/webhooks/webhook-starts.ts';
import {
  deliverWebhookWorkflowId,
  deliverWebhookWorkflowName,
  jobTaskQueue,
} from '../../workflows/contract/messages.ts';
import type { DeliverWebhookInput } from '../../workflows/contract/webhook.ts';
import { repeatAll } from '../../lib/repeat.ts';
import type { IsDue } from '../../lib/due-poll.ts';
import { allOf } from '../../lib/all-of.ts';

export interface WebhookChoresDeps {
  deliveries: WebhookStarts;
  client: Pick<Client, 'workflow'>;
  log: Logger;
  taskQueue?: string;
  /** Reports whether a delivery waits for its start. */
  isDue?: IsDue;
  /** Interval between checks for deliveries to start. */
  startsEveryMs?: number;
}

const startsAtOnce = 50;
/** Lease of a start, longer than any start takes. */
const leaseMs = 10_000;
const retentionDays = 30;
const restartedAtOnce = 500;
const sweptAtOnce = 1_000;
const hourMs = 3_600_000;

/**
 * Starts pending deliveries, restarts those whose execution is gone, and deletes those older than 30 days. Runs in
 * every worker; each delivery is started by one of them.
 */
export function createWebhookChores(deps: WebhookChoresDeps): AsyncDisposable {
  const { deliveries, client, log, taskQueue = jobTaskQueue, startsEveryMs = 500 } = deps;

  async function startWaiting(): Promise<void> {
    for (;;) {
      const due = await deliveries.claimStarts({ limit: startsAtOnce, leaseMs });
      await allOf(due.map(start));
      if (due.length < startsAtOnce) return;
    }
  }

  async function start({ messageId, webhookId, organizationId, ...input }: StartableDelivery): Promise<void> {
    const args: [DeliverWebhookInput] = [input];
    try {
      await client.workflow.start(deliverWebhookWorkflowName, {
        workflowId: deliverWebhookWorkflowId({ messageId, webhookId, round: input.round }),
        taskQueue,
        args,
        priority: { fairnessKey: organizationId },
        workflowIdConflictPolicy: 'USE_EXISTING',
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        // three days of attempts plus the longest delays that receivers may request
        workflowRunTimeout: '14 days',
        // no version of the code should have to run for that long
        versioningOverride: 'AUTO_UPGRADE',
      });
    } catch (error) {
      // it has already run
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await deliveries.confirmStart(input);
  }

  async function sweep(): Promise<void> {
    while ((await deliveries.sweep({ days: retentionDays, limit: sweptAtOnce })) === sweptAtOnce);
  }

  async function restartLost(): Promise<void> {
    let restarted: number;
    do {
      restarted = await deliveries.restartLost({ overdueMs: hourMs, limit: restartedAtOnce });
      if (restarted > 0) log.warn({ restarted }, 'restarted webhook deliveries whose workflow executions were gone');
    } while (restarted === restartedAtOnce);
  }

  return repeatAll(log, [
    { name: 'webhook starts', everyMs: startsEveryMs, isDue: deps.isDue, work: startWaiting },
    { name: 'lost webhook deliveries', everyMs: hourMs / 4, work: restartLost },
    { name: 'webhook retention', everyMs: hourMs, work: sweep },
  ]);
}
