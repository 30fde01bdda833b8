import { sleep } from '@temporalio/workflow';
import type { DeliverWebhookInput } from './contract/webhook.ts';
import { sendWebhook } from './proxies.ts';

/** Delivers one message to one receiver, retrying until no further attempt is due. Returns the number of attempts. */
export async function deliverWebhook(input: DeliverWebhookInput): Promise<{ attempts: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const { waitMs } = await sendWebhook({ ...input, attempt });
    if (waitMs === null) return { attempts: attempt };
    await sleep(waitMs);
  }
}
