import { createAttempt } from '../activities/attempt.ts';
import { createWebhookSender } from '../activities/network/webhook-sender.ts';
import { createWebhookActivities, type WebhookActivities } from '../activities/webhooks/webhooks.ts';
import { uninstrumented } from './instrument.ts';
import type { ActivityWiring } from './job-activities.ts';

/** Wires the activities of webhook deliveries with the real sender and stores. */
export function createDeliveryActivities(wiring: ActivityWiring): WebhookActivities {
  const { config, stores, secrets, instrument = uninstrumented } = wiring;
  const { redact } = secrets;
  const activities = createWebhookActivities({
    attempts: stores.webhookAttempts,
    sender: createWebhookSender({ allowedHosts: config.webhookAllowedHosts }),
    attempt: createAttempt({ redact }),
    redact,
  });
  return instrument('activities', activities);
}
