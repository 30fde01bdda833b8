import { sleep } from '@temporalio/workflow';
import type { DeliverWebhookInput } from './contract/webhook.ts';
import { sendWebhook } from './proxies.ts';

/** Tries to deliver one message to one receiver until it is taken, or there is no further attempt. Answers how many it took. */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<{ attempts: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const { waitMs } = await sendWebhook({ ...input, attempt });
    if (waitMs === null) return { attempts: attempt };
    await sleep(waitMs);
  }
}
