/** What happens to a job that a webhook tells of. */
export const webhookEventTypes = [
  'job.created',
  'job.completed',
  'job.failed',
  'job.archived',
  'job.resumed',
  'pull_request.closed',
  'pull_request.merged',
] as const;
export type WebhookEventType = (typeof webhookEventTypes)[number];

/** What a webhook is sent when a person asks for it. */
export const webhookPing = 'webhook.ping';

/** What a delivery is started with; url, secret and message are in PostgreSQL. */
export interface DeliverWebhookInput {
  deliveryId: string;
  /** Counts from 1; a round ends when it learns of a newer one. */
  round: number;
}

export interface WebhookAttemptRef extends DeliverWebhookInput {
  /** Counts from 1 within the round. */
  attempt: number;
}

/** `waitMs`: until the next attempt; null when there is none. */
export interface WebhookAttempt {
  waitMs: number | null;
}
