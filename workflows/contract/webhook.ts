/** Job events that webhooks report. */
export const webhookEventTypes = [
  'job.created',
  'job.completed',
  'job.failed',
  'job.archived',
  'job.unarchived',
  'job.resumed',
  'job.waiting',
  'pull_request.closed',
  'pull_request.merged',
] as const;

/** Event sent when a user requests a test delivery. */
export const webhookPing = 'webhook.ping';

/** Input of a delivery; its URL, secret and message are in PostgreSQL. */
export interface DeliverWebhookInput {
  deliveryId: string;
  /** Counts from 1; a round ends when it finds a newer one. */
  round: number;
}

export interface WebhookAttemptRef extends DeliverWebhookInput {
  /** Counts from 1 within the round. */
  attempt: number;
}

/** `waitMs`: time until the next attempt; null when there is none. */
export interface WebhookAttempt {
  waitMs: number | null;
}
