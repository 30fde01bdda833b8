import type { Pool } from 'pg';
import { writeAudit } from '../organizations/audit.ts';
import type { Caller, Owner } from '../caller.ts';
import { canBeId } from '../ids.ts';
import { decodeCursor, encodeCursor } from '../page-cursor.ts';
import { withTransaction } from '../pool.ts';
import { isOwnWebhook, type WebhookRef } from './webhook-endpoints.ts';

type DeliveryStatus = 'pending' | 'delivered' | 'failed';

/** Largest number of attempts that a delivery shows. */
export const maxAttempts = 20;

interface AttemptRow {
  startedAt: Date;
  durationMs: number;
  statusCode: number | null;
  /** Beginning of the response. */
  response: string | null;
  error: string | null;
}

export interface DeliveryRow {
  id: string;
  messageId: string;
  type: string;
  jobId: string | null;
  status: DeliveryStatus;
  error: string | null;
  nextAttemptAt: Date | null;
  createdAt: Date;
  endedAt: Date | null;
  /** Newest first, at most `maxAttempts`. */
  attempts: AttemptRow[];
}

const deliveryColumns = `
  delivery.id, delivery.message_id as "messageId", message.type, message.job_id as "jobId", delivery.status, delivery.error,
  case when delivery.status = 'pending' then delivery.next_attempt_at end as "nextAttemptAt",
  delivery.created_at as "createdAt", delivery.ended_at as "endedAt",
  (extract(epoch from delivery.created_at) * 1000000)::bigint::text as "createdMicros", attempts.list as attempts`;

/** Log of each delivery; times as numbers, because JSON has no other. */
const deliveryTables = `
  webhook_deliveries as delivery
  join webhook_endpoints on webhook_endpoints.id = delivery.endpoint_id
  join webhook_messages as message on message.id = delivery.message_id
  cross join lateral (
    select coalesce(jsonb_agg(attempt order by attempt."startedMs" desc), '[]') as list from (
      select extract(epoch from started_at)::float8 * 1000 as "startedMs", duration_ms as "durationMs",
             status_code as "statusCode", response, error
      from webhook_attempts where delivery_id = delivery.id order by started_at desc limit ${maxAttempts}
    ) as attempt
  ) as attempts`;

type StoredDelivery = Omit<DeliveryRow, 'attempts'> & {
  createdMicros: string;
  attempts: (Omit<AttemptRow, 'startedAt'> & { startedMs: number })[];
};

export type WebhookDeliveryStore = ReturnType<typeof createWebhookDeliveryStore>;

/** Creates the store of messages to webhooks and their deliveries. */
export function createWebhookDeliveryStore(pool: Pool) {
  return {
    /** Newest first. `cursor` comes from the previous page; a malformed one throws `InvalidCursorError`. */
    async list(
      { organizationId }: Owner,
      webhook: WebhookRef,
      { limit, cursor }: { limit: number; cursor?: string },
    ): Promise<{ deliveries: DeliveryRow[]; nextCursor: string | null }> {
      const after = cursor === undefined ? null : decodeCursor(cursor);
      const { rows } = await pool.query<StoredDelivery>(
        `select ${deliveryColumns} from ${deliveryTables}
         where ${isOwnWebhook}
           and ($4::bigint is null or (delivery.created_at, delivery.id)
                < ('epoch'::timestamptz + $4::bigint * interval '1 microsecond', $5::text))
         order by delivery.created_at desc, delivery.id desc limit $6`,
        [webhook.projectId, webhook.id, organizationId, after?.createdMicros ?? null, after?.id ?? null, limit + 1],
      );
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return { deliveries: page.map(deliveryOf), nextCursor: last === undefined ? null : encodeCursor(last) };
    },

    async find({ organizationId }: Owner, webhook: WebhookRef, id: string): Promise<DeliveryRow | null> {
      if (!canBeId(id)) return null;
      const { rows } = await pool.query<StoredDelivery>(
        `select ${deliveryColumns} from ${deliveryTables} where ${isOwnWebhook} and delivery.id = $4`,
        [webhook.projectId, webhook.id, organizationId, id],
      );
      const [row] = rows;
      return row === undefined ? null : deliveryOf(row);
    },

    /** Sends the message again from the first attempt, whatever its state; false when there is no such delivery. */
    async redeliver(caller: Caller, webhook: WebhookRef, id: string): Promise<boolean> {
      if (!canBeId(id)) return false;
      return withTransaction(pool, async (client) => {
        const { rowCount } = await client.query(
          `update webhook_deliveries
           set round = round + 1, status = 'pending', tries = 0, start_at = now(), next_attempt_at = now(), error = null,
               ended_at = null
           from webhook_endpoints
           where ${isOwnWebhook} and endpoint_id = webhook_endpoints.id and webhook_deliveries.id = $4`,
          [webhook.projectId, webhook.id, caller.organizationId, id],
        );
        if (rowCount !== 1) return false;
        await writeAudit(client, caller, {
          action: 'webhook.redeliver',
          subject: id,
          details: { projectId: webhook.projectId, webhookId: webhook.id },
        });
        return true;
      });
    },
  };
}

function deliveryOf(stored: StoredDelivery): DeliveryRow {
  const { createdMicros: _, attempts, ...row } = stored;
  return {
    ...row,
    attempts: attempts.map(({ startedMs, ...attempt }) => ({ startedAt: new Date(startedMs), ...attempt })),
  };
}
