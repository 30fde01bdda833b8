import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import type { Logger } from 'pino';
import type { StartableDelivery, WebhookStarts } from '../../db/for-worker/webhook-starts.ts';
import {
  deliverWebhookWorkflowId,
  deliverWebhookWorkflowName,
  jobTaskQueue,
} from '../../workflows/contract/messages.ts';
import type { DeliverWebhookInput } from '../../workflows/contract/webhook.ts';
import { repeat } from '../../lib/repeat.ts';

export interface WebhookChoresDeps {
  deliveries: WebhookStarts;
  client: Pick<Client, 'workflow'>;
  log: Logger;
  taskQueue?: string;
  /** How often deliveries to start are looked for. */
  startsEveryMs?: number;
}

const startsAtOnce = 50;
/** Longer than a start may take. */
const leaseMs = 10_000;
const retentionDays = 30;
const sweptAtOnce = 1_000;
const hourMs = 3_600_000;

/**
 * Starts the deliveries that wait for it, begins those anew whose execution is gone, and deletes what is older than 30 days.
 * Runs in every worker; each delivery is started by one of them.
 */
export function createWebhookChores(deps: WebhookChoresDeps): AsyncDisposable {
  const { deliveries, client, log, taskQueue = jobTaskQueue, startsEveryMs = 500 } = deps;

  async function startWaiting(): Promise<void> {
    for (;;) {
      const due = await deliveries.claimStarts({ limit: startsAtOnce, leaseMs });
      const starts = await Promise.allSettled(due.map(start));
      const failed = starts.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
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
        // three days of attempts, and every wait as long as a receiver may ask for
        workflowRunTimeout: '14 days',
        // no version of the code should have to live that long
        versioningOverride: 'AUTO_UPGRADE',
      });
    } catch (error) {
      // it ran and has ended already
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    }
    await deliveries.confirmStart(input);
  }

  async function sweep(): Promise<void> {
    while ((await deliveries.sweep({ days: retentionDays, limit: sweptAtOnce })) === sweptAtOnce);
  }

  async function restartLost(): Promise<void> {
    const restarted = await deliveries.restartLost({ overdueMs: hourMs });
    if (restarted > 0) log.warn({ restarted }, 'restarted webhook deliveries whose workflow executions were gone');
  }

  const chores = [
    repeat({ name: 'webhook starts', everyMs: startsEveryMs, work: startWaiting, log }),
    repeat({ name: 'lost webhook deliveries', everyMs: hourMs / 4, work: restartLost, log }),
    repeat({ name: 'webhook retention', everyMs: hourMs, work: sweep, log }),
  ];
  return {
    async [Symbol.asyncDispose]() {
      await Promise.all(chores.map((chore) => chore[Symbol.asyncDispose]()));
    },
  };
}
