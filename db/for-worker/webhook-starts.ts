import type { Pool } from 'pg';
import type { DeliverWebhookInput } from '../../workflows/contract/webhook.ts';

export interface StartableDelivery extends DeliverWebhookInput {
  messageId: string;
  webhookId: string;
  organizationId: string;
}

/** Deliveries on their way to Temporal. */
export interface WebhookStarts {
  /** Deliveries to start in Temporal now, leased to this process for `leaseMs`. */
  claimStarts(options: { limit: number; leaseMs: number }): Promise<StartableDelivery[]>;
  /** Temporal has it. */
  confirmStart(delivery: DeliverWebhookInput): Promise<void>;
  /** Begins a new round for deliveries whose next attempt is overdue by `overdueMs`: their execution is gone. */
  restartLost(options: { overdueMs: number }): Promise<number>;
  /** Deletes messages older than `days` that are on their way to nobody, and what was noted of them; answers how many. */
  sweep(options: { days: number; limit: number }): Promise<number>;
}

export function createWebhookStarts(pool: Pool): WebhookStarts {
  return {
    async claimStarts({ limit, leaseMs }) {
      const { rows } = await pool.query<StartableDelivery>({
        name: 'claim-webhook-starts',
        text: `
          with due as materialized (
            select id from webhook_deliveries where start_at <= now() order by start_at limit $1 for update skip locked
          )
          update webhook_deliveries as delivery set start_at = now() + $2::float8 * interval '1 millisecond'
          from due, webhook_endpoints as endpoint, projects
          where delivery.id = due.id and endpoint.id = delivery.endpoint_id and projects.id = endpoint.project_id
          returning delivery.id as "deliveryId", round, message_id as "messageId", endpoint_id as "webhookId",
                    projects.organization_id as "organizationId"`,
        values: [limit, leaseMs],
      });
      return rows;
    },

    async confirmStart({ deliveryId, round }) {
      await pool.query('update webhook_deliveries set start_at = null where id = $1 and round = $2', [
        deliveryId,
        round,
      ]);
    },

    async restartLost({ overdueMs }) {
      const { rowCount } = await pool.query(
        `update webhook_deliveries set round = round + 1, start_at = now(), next_attempt_at = now()
         where id in (
           select id from webhook_deliveries
           where status = 'pending' and start_at is null
             and next_attempt_at < now() - $1::float8 * interval '1 millisecond'
           for update skip locked
         )`,
        [overdueMs],
      );
      return rowCount ?? 0;
    },

    async sweep({ days, limit }) {
      const { rowCount } = await pool.query(
        `delete from webhook_messages where id in (
           select id from webhook_messages as message
           where created_at < now() - $1::float8 * interval '1 day'
             and not exists (select from webhook_deliveries where message_id = message.id and status = 'pending')
           order by created_at limit $2 for update skip locked
         )`,
        [days, limit],
      );
      return rowCount ?? 0;
    },
  };
}
