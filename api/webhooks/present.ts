import type { DeliveryRow } from '../../db/webhooks/webhook-deliveries.ts';
import type { WebhookRow } from '../../db/webhooks/webhook-endpoints.ts';
import type { PublicDelivery, PublicWebhook } from './webhook-schemas.ts';

/** Returns the public form of a webhook, field by field. Its secret is never shown. */
export function presentWebhook(row: WebhookRow): PublicWebhook {
  return {
    id: row.id,
    format: row.format,
    url: row.url,
    description: row.description,
    eventTypes: row.eventTypes,
    enabled: row.enabled,
    disabledReason: row.disabledReason,
    failingSince: row.failingSince?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** Returns the public form of a delivery, field by field. */
export function presentDelivery(row: DeliveryRow): PublicDelivery {
  return {
    id: row.id,
    messageId: row.messageId,
    type: row.type,
    jobId: row.jobId,
    status: row.status,
    error: row.error,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    createdAt: row.createdAt.toISOString(),
    endedAt: row.endedAt?.toISOString() ?? null,
    attempts: row.attempts.map(({ startedAt, durationMs, statusCode, response, error }) => ({
      startedAt: startedAt.toISOString(),
      durationMs,
      statusCode,
      response,
      error,
    })),
  };
}
