import { z } from 'zod';
import { maxPageSize } from '../../db/page.ts';
import { maxAttempts } from '../../db/webhooks/webhook-deliveries.ts';
import { maxWebhooks, webhookFormats } from '../../db/webhooks/webhook-endpoints.ts';
import { closedBody } from '../http/closed-object.ts';
import { nextCursor } from '../http/page-schemas.ts';
import { webhookKeyOf } from '../../db/webhooks/webhook-secret.ts';
import { webhookEventTypes } from '../../workflows/contract/webhook.ts';
import { time, timeOrNull } from '../../lib/time-schemas.ts';

const urlSchema = z.string().max(2_048).meta({
  format: 'uri',
  description: 'URL that messages are sent to: https on a public host, unless the operator allows the host.',
});

const descriptionSchema = z.string().max(500).nullable();

const maxEventTypes = 50;

const eventTypesSchema = z
  .array(z.enum(webhookEventTypes))
  .max(maxEventTypes)
  .transform((types) => [...new Set(types)])
  .meta({ description: 'Event types to send; empty for all, including future ones.' });

const secretSchema = z
  .string()
  .refine((text) => webhookKeyOf(text) !== null, 'must be whsec_ and 24 to 64 bytes in base64')
  .meta({ description: 'whsec_ and 24 to 64 bytes in base64. Generated if omitted.' });

/** Body of `POST …/webhooks`. */
export const createWebhookSchema = closedBody({
  format: z.enum(webhookFormats).default('standard').meta({
    description: 'standard: signed messages of Standard Webhooks. slack: messages for a Slack incoming webhook.',
  }),
  url: urlSchema,
  description: descriptionSchema.optional(),
  eventTypes: eventTypesSchema.optional(),
  secret: secretSchema.optional(),
});

/** Body of `PATCH …/webhooks/{id}`. Omitted fields stay unchanged. */
export const changeWebhookSchema = closedBody({
  url: urlSchema.optional(),
  description: descriptionSchema.optional(),
  eventTypes: eventTypesSchema.optional(),
  enabled: z.boolean().optional(),
});

/** Body of `POST …/webhooks/{id}/secret`. */
export const rotateSecretSchema = closedBody({ secret: secretSchema.optional() }).prefault({});

export const webhookSchema = z.object({
  id: z.string(),
  format: z.enum(webhookFormats),
  url: z.string().meta({ format: 'uri', description: 'For slack, only its host: the whole URL is a secret.' }),
  description: z.string().nullable(),
  eventTypes: z.array(z.string()).max(maxEventTypes).meta({ description: 'Event types that are sent; empty for all.' }),
  enabled: z.boolean(),
  disabledReason: z.string().nullable().meta({ description: 'Why it was disabled automatically; null otherwise.' }),
  failingSince: timeOrNull.meta({ description: 'Start of the current failure streak; null without one.' }),
  createdAt: time,
  updatedAt: time,
});
export type PublicWebhook = z.infer<typeof webhookSchema>;

export const webhookListSchema = z.object({ webhooks: z.array(webhookSchema).max(maxWebhooks) });

const secretOnce = z.string().meta({ description: 'Signing secret, returned only once.' });
export const createdWebhookSchema = webhookSchema.extend({
  secret: secretOnce.nullable().meta({ description: 'Signing secret, returned only once; null for slack.' }),
});
export const rotatedSecretSchema = z.object({
  secret: secretOnce,
  previousValidUntil: time.meta({ description: 'Until then messages are signed with the previous secret too.' }),
});

export const deliverySchema = z.object({
  id: z.string(),
  messageId: z.string().meta({ description: 'The webhook-id header of every attempt.' }),
  type: z.string(),
  jobId: z.string().nullable(),
  status: z.enum(['pending', 'delivered', 'failed']),
  error: z.string().nullable().meta({ description: 'Why the delivery failed, if no attempt states it.' }),
  nextAttemptAt: timeOrNull,
  createdAt: time,
  endedAt: timeOrNull,
  attempts: z
    .array(
      z.object({
        startedAt: time,
        durationMs: z.number().int(),
        statusCode: z.number().int().nullable(),
        response: z.string().nullable().meta({ description: "Beginning of the receiver's response body." }),
        error: z.string().nullable(),
      }),
    )
    .max(maxAttempts)
    .meta({ description: `The newest ${maxAttempts}, newest first.` }),
});
export type PublicDelivery = z.infer<typeof deliverySchema>;

export const deliveryListSchema = z.object({
  deliveries: z.array(deliverySchema).max(maxPageSize),
  nextCursor,
});
